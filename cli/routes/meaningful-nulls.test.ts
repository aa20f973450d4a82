import { describe, expect, test } from 'vitest';
import { meaningfulNullsOf } from './meaningful-nulls.mjs';

const schemas = {
  Body: {
    required: ['choice', 'name', 'plain'],
    properties: {
      choice: { anyOf: [{ type: 'string', enum: ['a', ''] }, { type: 'null' }] },
      name: { $ref: '#/components/schemas/Name' },
      plain: { type: 'string' },
      optional: { type: 'string', nullable: true },
    },
  },
  Name: { type: 'string', nullable: true },
};
const body = { $ref: '#/components/schemas/Body' };
const operation = {
  operationId: 'Do',
  requestBody: { content: { 'application/json': { schema: body } } },
};

describe('meaningfulNullsOf', () => {
  test('names the required members of a POST that may be null', () => {
    expect(meaningfulNullsOf({ '/x': { post: operation } }, schemas)).toEqual({
      Do: ['choice', 'name'],
    });
  });

  test('names none of another method, and none where no member is required', () => {
    expect(meaningfulNullsOf({ '/x': { put: operation }, '/y': { post: {} } }, schemas)).toEqual(
      {},
    );
  });
});
