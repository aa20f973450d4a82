import { describe, expect, it } from 'vitest';
import { isAbsent } from './absent.js';

describe('a member of a request', () => {
  it.each([
    'type',
    'status',
    'billing_period',
    'window_size',
    'order',
    'cadence',
    'period',
    'expiration_type',
    'expiration_duration_unit',
    'action',
    'sort',
  ])('is absent with the empty text of the optional enumeration %s', (name) => {
    expect(isAbsent(name, '')).toBe(true);
  });

  it('is absent with null, and with the empty text of a reference', () => {
    expect([isAbsent('name', null), isAbsent('plan_id', '')]).toEqual([true, true]);
  });

  it.each(['name', 'amount', 'metadata', 'description'])('is there with the text of %s', (name) => {
    expect(isAbsent(name, '')).toBe(false);
  });
});
