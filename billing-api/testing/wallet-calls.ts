import type { BillingUnderTest } from './billing-harness.js';
import type { Answer } from './money-test.js';

/** A customer with a wallet, which is empty unless it says otherwise. */
export async function makeWallet(api: BillingUnderTest, members: object = {}): Promise<Answer> {
  const { items } = await api.make('/v1/customers/search', { external_ids: ['acme'] });
  if (items.length === 0) await api.make('/v1/customers', { external_id: 'acme', name: 'Acme' });
  return api.make('/v1/wallets', { external_customer_id: 'acme', currency: 'usd', ...members });
}

/** Credits that cost nothing. */
export const FREE = { transaction_reason: 'FREE_CREDIT_GRANT' };
/** Tops up a wallet. */
export const topUp = async (api: BillingUnderTest, wallet: Answer, body: object) =>
  (await api.call('POST', `/v1/wallets/${wallet.id}/top-up`, { body })).body;
/** A wallet as it stands. */
export const readWallet = async (api: BillingUnderTest, wallet: Answer) =>
  (await api.call('GET', `/v1/wallets/${wallet.id}`)).body;
/** The transactions of a wallet, newest first. */
export const transactionsOf = async (api: BillingUnderTest, wallet: Answer) =>
  (await api.call('GET', `/v1/wallets/${wallet.id}/transactions`)).body.items;

/** An invoice of `acme` with one line. */
export async function invoiceOf(api: BillingUnderTest, amount: string) {
  const { items } = await api.make('/v1/customers/search', { external_ids: ['acme'] });
  return api.make('/v1/invoices', {
    customer_id: items[0].id,
    currency: 'usd',
    subtotal: amount,
    total: amount,
    amount_due: amount,
    line_items: [{ display_name: 'Work', amount }],
  });
}
