import { expect, test } from 'vitest';
import { decimalOf } from '../../../contract/number/decimal.js';
import { changeTypeOf, type RecurringCharge } from './change-type.js';

const charge = (
  amount: string,
  billingPeriod: RecurringCharge['billingPeriod'],
  billingPeriodCount = 1,
): RecurringCharge => ({ amount: decimalOf(amount), billingPeriod, billingPeriodCount });

test.each([
  [[charge('100', 'MONTHLY')], [charge('200', 'MONTHLY')], 'upgrade'],
  [[charge('300', 'MONTHLY')], [charge('50', 'MONTHLY')], 'downgrade'],
  [[charge('100', 'MONTHLY')], [charge('1200', 'ANNUAL')], 'lateral'],
  [[charge('100', 'MONTHLY')], [charge('1199', 'ANNUAL')], 'downgrade'],
  [[charge('10', 'MONTHLY', 3)], [charge('10', 'QUARTERLY')], 'lateral'],
  [[charge('7', 'WEEKLY')], [charge('1', 'DAILY')], 'lateral'],
  [[charge('30', 'MONTHLY')], [charge('1', 'DAILY')], 'upgrade'],
  [[], [charge('1', 'DAILY')], 'upgrade'],
  [[], [], 'lateral'],
] as const)('%j to %j is an %s', (ended, begun, expected) => {
  expect(changeTypeOf(ended, begun)).toBe(expected);
});
