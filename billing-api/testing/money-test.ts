import { expect } from 'vitest';
import type { BillingUnderTest } from './billing-harness.js';
import { expectBalancedBooks } from './check-books.js';
import { test as billedTest } from './billed-test.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Answer = any;

/** What tests of money do with invoices. */
export type Money = {
  /** PUT /invoices/{id}/payment. */
  readonly pay: (id: string, body: object) => Promise<Answer>;
  /** The invoice as it stands. */
  readonly read: (id: string) => Promise<Answer>;
};

/** A finalized invoice with one line of this amount. */
export async function makeInvoice(api: BillingUnderTest, amount: string, currency = 'usd') {
  const externalId = `payer of ${amount} ${currency}`;
  const found = await api.make('/v1/customers/search', { external_ids: [externalId] });
  const customer = found.items[0] ?? (await api.make('/v1/customers', { external_id: externalId }));
  return api.make('/v1/invoices', {
    customer_id: customer.id,
    currency,
    subtotal: amount,
    total: amount,
    amount_due: amount,
    line_items: [{ display_name: 'Work', amount }],
  });
}

/** That each body is refused by a message that names the member. */
export async function expectRefused(
  call: (body: object) => Promise<Answer>,
  cases: readonly (readonly [object, RegExp])[],
): Promise<void> {
  for (const [body, message] of cases) {
    const answer = await call(body);
    expect([body, answer.status]).toEqual([body, 400]);
    expect(answer.body.message).toMatch(message);
  }
}

/** `test` of the API with money, whose books are verified after each test. */
export const test = billedTest.extend<{ due: Answer; money: Money }>({
  /** An invoice of 122. */
  due: async ({ api }, use) => use(await makeInvoice(api, '122.00')),
  money: async ({ api }, use) => {
    await use({
      pay: async (id, body) => (await api.call('PUT', `/v1/invoices/${id}/payment`, { body })).body,
      read: async (id) => (await api.call('GET', `/v1/invoices/${id}`)).body,
    });
    await expectBalancedBooks(api);
  },
});
