import { expect } from 'vitest';
import { test, type Answer } from '../../testing/money-test.js';
import { makeWallet, readWallet } from '../../testing/wallet-calls.js';

type Case = {
  readonly path: string;
  /** What is sent first, and again. */
  readonly body: object;
  /** Members of it that another request has. */
  readonly others: readonly object[];
  /** Of the record that is made. */
  readonly idOf: (answer: Answer) => string;
};

/** LED-3: the same id with another body is a conflict, and nothing is done. */
test('a key that comes again makes nothing: the same record, or a conflict for another request', async ({
  api,
  due,
  money,
}) => {
  const wallet = await makeWallet(api, { initial_credits_to_load: '100' });
  const line = due.line_items[0].id;
  const noteOf = (...amounts: string[]) => ({
    line_items: amounts.map((amount) => ({ invoice_line_item_id: line, amount })),
  });
  const transactionOf = ({ wallet_transaction: { id } }: Answer): string => id;
  const cases: readonly Case[] = [
    {
      path: '/v1/payments',
      body: {
        destination_type: 'INVOICE',
        destination_id: due.id,
        amount: '10',
        payment_method_type: 'OFFLINE',
        currency: 'usd',
        process_payment: true,
      },
      others: [
        { amount: '10.01' },
        { payment_method_type: 'CARD' },
        { destination_type: 'CUSTOMER', destination_id: due.customer_id },
      ],
      idOf: ({ id }) => id,
    },
    {
      path: '/v1/creditnotes',
      body: { invoice_id: due.id, ...noteOf('3', '4') },
      others: [noteOf('3', '4.01'), noteOf('7'), noteOf('4', '3')],
      idOf: ({ id }) => id,
    },
    {
      path: `/v1/wallets/${wallet.id}/top-up`,
      body: { credits_to_add: '5', transaction_reason: 'FREE_CREDIT_GRANT' },
      others: [{ credits_to_add: '6' }, { transaction_reason: 'PURCHASED_CREDIT_DIRECT' }],
      idOf: transactionOf,
    },
    {
      path: `/v1/wallets/${wallet.id}/debit`,
      body: { credits: '2', transaction_reason: 'CREDIT_ADJUSTMENT' },
      others: [{ credits: '3' }, { transaction_reason: 'MANUAL_BALANCE_DEBIT' }],
      idOf: transactionOf,
    },
  ];
  for (const [place, { path, body, others, idOf }] of cases.entries()) {
    const keyed = { ...body, idempotency_key: `key ${place}` };
    const first = await api.call('POST', path, { body: keyed });
    const again = await api.call('POST', path, { body: keyed });
    expect([again.status, idOf(again.body)]).toEqual([first.status, idOf(first.body)]);
    for (const other of others) {
      const refused = await api.call('POST', path, { body: { ...keyed, ...other } });
      expect([other, refused.status, refused.body.code, Object.keys(refused.body.details)]).toEqual(
        [other, 409, 'already_exists', ['idempotency_key']],
      );
    }
  }
  expect(await money.read(due.id)).toMatchObject({
    amount_paid: '10.00',
    adjustment_amount: '7.00',
  });
  expect(await readWallet(api, wallet)).toMatchObject({ credit_balance: '103' });
});
