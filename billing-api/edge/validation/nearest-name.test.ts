import { expect, test } from 'vitest';
import { nearestName } from './nearest-name.js';

const NAMES = ['amount', 'billing_period', 'billing_period_count', 'currency', 'id'];

test.each([
  ['ammount', 'amount'],
  ['billingPeriod', 'billing_period'],
  ['curency', 'currency'],
  ['CURRENCY', 'currency'],
  ['colour', null],
  ['ids', null],
  ['__proto__', null],
  ['', null],
])('a member called %s was meant to be %s', (name, meant) => {
  expect(nearestName(name, NAMES)).toBe(meant);
});
