import { describe, expect, test } from 'vitest';
import { absentMembersOf, withAbsentMembers } from './absent-members.mjs';

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const schemas = {
  List: { properties: { items: { type: 'array', items: reference('Plan') } } },
  Plan: { properties: { id: { type: 'string' }, price: reference('Price') }, required: ['id'] },
  Price: { properties: { id: { type: 'string' } }, required: ['id'] },
  Note: { properties: { text: { type: 'string' } } },
};
const operationOf = (operationId: string, schema: object) => ({
  operationId,
  responses: { 200: { content: { 'application/json': { schema } } } },
});
const paths = {
  '/plans': { get: operationOf('List', reference('List')) },
  '/notes': { get: operationOf('Notes', reference('Note')) },
};

describe('members that are absent', () => {
  test('are found below lists and members, and nothing is said of answers without them', () => {
    expect(absentMembersOf(paths, schemas, { Price: ['meter'] })).toEqual({
      answers: { List: 'List' },
      schemas: {
        List: { absent: [], inner: { items: 'Plan' } },
        Plan: { absent: [], inner: { price: 'Price' } },
        Price: { absent: ['meter'], inner: {} },
      },
    });
  });

  test('are optional and null in the document, or may be null where they have a form', () => {
    const table = { Plan: ['price'], Price: ['meter', 'tenant_id'] };
    const completed = withAbsentMembers(schemas, table);
    expect(completed['Price']).toMatchObject({
      properties: { meter: { nullable: true, enum: [null] }, tenant_id: { type: 'string' } },
      required: ['id'],
    });
    expect(completed['Plan']).toMatchObject({
      properties: { price: { anyOf: [reference('Price'), { nullable: true }] } },
    });
  });

  test('must be of a schema that exists and does not always have them', () => {
    expect(() => withAbsentMembers(schemas, { Other: ['a'] })).toThrow('Other, which is no schema');
    expect(() => withAbsentMembers(schemas, { Plan: ['id'] })).toThrow('Plan always has id');
  });
});
