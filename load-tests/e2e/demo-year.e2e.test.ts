import { expect, test } from 'vitest';
import { liveYear } from '../../cli/demo/year.js';
import { withTestStack } from '../harness/test-stack.js';

/**
 * Reason, start and end of the period, total. What is unused of Starter at the change is a credit
 * note beside the invoice of Team. 105.00 has 500 calls at 0.01, read by the billing job as the
 * product reads usage. The pause of 30 days makes the period of 25 May end on 25 July.
 */
const YEAR = [
  'SUBSCRIPTION_TRIAL_START 01-01 01-15 0.00',
  'SUBSCRIPTION_TRIAL_END 01-15 02-15 30.00',
  'SUBSCRIPTION_CYCLE 01-15 02-15 30.00',
  'SUBSCRIPTION_CYCLE 02-15 03-15 30.00',
  'SUBSCRIPTION_UPDATE 03-25 04-25 100.00',
  'SUBSCRIPTION_CYCLE 03-25 04-25 105.00',
  'SUBSCRIPTION_CYCLE 04-25 05-25 100.00',
  'SUBSCRIPTION_CYCLE 05-25 07-25 100.00',
  'SUBSCRIPTION_CYCLE 07-25 08-25 100.00',
  'SUBSCRIPTION_CYCLE 08-25 09-25 100.00',
  'SUBSCRIPTION_CYCLE 09-25 10-25 0.00',
];

test('a year of one customer is billed with a reason for every invoice', async () => {
  await withTestStack({ MINUTEBOOK_SIGN_UP: 'open' }, async (stack) => {
    const { invoices, areSame, sum, status } = await liveYear(`${stack.url}/v1`);
    const day = (instant: string): string => instant.slice(5, 10);
    expect(
      invoices.map(({ billing_reason: reason, period_start: start, period_end: end, total }) =>
        [reason, day(start), day(end), total].join(' '),
      ),
    ).toEqual(YEAR);
    expect(areSame).toEqual(YEAR.map(() => true));
    expect([Number(sum), status]).toEqual([0, 'cancelled']);
  });
});
