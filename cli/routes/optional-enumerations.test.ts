import { describe, expect, it } from 'vitest';
import { optionalEnumerationsOf } from './optional-enumerations.mjs';

const enumeration = { type: 'string', enum: ['a', 'b'] };
const body = (schema: object) => ({
  '/plans': { post: { requestBody: { content: { 'application/json': { schema } } } } },
});

describe('the optional enumerations', () => {
  it('are found in bodies, however deep, also in references, lists and unions', () => {
    const schemas = {
      Unit: enumeration,
      Inner: { properties: { unit: { $ref: '#/components/schemas/Unit' } } },
      Body: {
        properties: {
          kind: enumeration,
          needed: enumeration,
          name: { type: 'string' },
          nullable: { allOf: [{ $ref: '#/components/schemas/Unit' }], nullable: true },
          items: { type: 'array', items: { $ref: '#/components/schemas/Inner' } },
          parts: { additionalProperties: { anyOf: [{ properties: { round: enumeration } }] } },
          itself: { $ref: '#/components/schemas/Body' },
        },
        required: ['needed'],
      },
    };
    expect(optionalEnumerationsOf(body({ $ref: '#/components/schemas/Body' }), schemas)).toEqual([
      'kind',
      'nullable',
      'round',
      'unit',
    ]);
  });

  it('are found in queries; those of paths and answers are not', () => {
    const parameters = [
      { in: 'query', name: 'order', required: false, schema: enumeration },
      { in: 'query', name: 'scope', required: true, schema: enumeration },
      { in: 'path', name: 'kind', required: false, schema: enumeration },
    ];
    const responses = { 200: { schema: { properties: { state: enumeration } } } };
    expect(optionalEnumerationsOf({ '/x': { get: { parameters, responses } } }, {})).toEqual([
      'order',
    ]);
  });

  it('are no members that may only be null', () => {
    const schema = { properties: { metadata: { anyOf: [{ type: 'object' }, { enum: [null] }] } } };
    expect(optionalEnumerationsOf(body(schema), {})).toEqual([]);
  });
});
