import { expect } from 'vitest';
import type { BillingUnderTest } from './billing-harness.js';

/** That every movement of money of the environment balances and agrees with its records. */
export async function expectBalancedBooks(api: Pick<BillingUnderTest, 'call'>): Promise<void> {
  const { status, body } = await api.call('GET', '/v1/ledger/verify');
  expect([status, body.problems ?? body]).toEqual([200, []]);
  for (const currency of ['usd', 'eur', 'jpy', 'kwd']) {
    const balances = await api.call('GET', `/v1/ledger/balances?currency=${currency}`);
    expect(balances.body.sum).toBe('0');
  }
}
