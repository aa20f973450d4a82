import { describe, expect, test } from 'vitest';
import { completeAnswer, type AbsentMembers } from './complete-answer.js';

const absent: AbsentMembers = {
  answers: { ListPlans: 'List' },
  schemas: {
    List: { absent: [], inner: { items: 'Plan' } },
    Plan: { absent: ['group', 'tenant_id'], inner: { price: 'Price' } },
    Price: { absent: ['meter'], inner: {} },
  },
};
const complete = (answer: unknown, operationId = 'ListPlans') =>
  completeAnswer(absent, { operationId, answer }, { tenant_id: 't' });

describe('completeAnswer', () => {
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

  test('leaves alone what is no object, and members that are not there', () => {
    expect(complete({ items: 'none' })).toEqual({ items: 'none' });
    expect(complete({})).toEqual({});
    expect(complete(undefined)).toBeUndefined();
    expect(complete({ items: [{}] }, 'Another')).toEqual({ items: [{}] });
  });
});
