import { describe, expect, test } from 'vitest';
import { answerSchemas, createCompleter, type AbsentMembers } from './complete-answer.js';

const absent: AbsentMembers = {
  answers: { ListPlans: 'List' },
  schemas: {
    List: { absent: [], inner: { items: 'Plan' } },
    Plan: { absent: ['group', 'tenant_id'], inner: { price: 'Price' } },
    Price: { absent: ['meter'], inner: { successor: 'Price', unit: 'Unit' } },
  },
};
const schemas = answerSchemas(absent);
const complete = (answer: unknown, operationId = 'ListPlans') =>
  createCompleter({ tenant_id: 't' })(schemas.get(operationId), answer);

describe('completing an answer', () => {
  test('adds what is absent in every element and below, and changes nothing that is there', () => {
    const answer = {
      items: [
        { group: 'g', price: { id: 'p' } },
        { price: null, other: 1 },
      ],
    };
    expect(complete(answer)).toEqual({
      items: [
        { group: 'g', price: { id: 'p', meter: null }, tenant_id: 't' },
        { price: null, other: 1, group: null, tenant_id: 't' },
      ],
    });
    expect(answer.items[0]).toEqual({ group: 'g', price: { id: 'p' } });
  });

  test('adds what is absent in a record that holds one of its own kind', () => {
    expect(complete({ items: [{ group: 'g', price: { successor: { meter: 1 } } }] })).toEqual({
      items: [{ group: 'g', tenant_id: 't', price: { meter: null, successor: { meter: 1 } } }],
    });
  });

  test('leaves alone what is no object, and members that are not there', () => {
    expect(complete({ items: 'none' })).toEqual({ items: 'none' });
    expect(complete({})).toEqual({});
    expect(complete(undefined)).toBeUndefined();
    expect(complete({ items: [{}] }, 'Another')).toEqual({ items: [{}] });
  });
});
