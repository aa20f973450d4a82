import { sql, type FragmentSqlToken } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { expectBalancedBooks } from '../testing/check-books.js';
import { test, type Answer } from '../testing/money-test.js';

describe('the books', () => {
  const ALTERATIONS = {
    'an amount of a posting': sql.fragment`UPDATE ledger_postings SET amount = amount * 2`,
    'the account of a posting': sql.fragment`
      UPDATE ledger_postings SET account = 'payments' WHERE account = 'revenue'`,
    'the kind of a movement': sql.fragment`UPDATE ledger_groups SET kind = 'other'`,
    'a movement that is gone': sql.fragment`
      WITH gone AS (DELETE FROM ledger_postings) DELETE FROM ledger_groups`,
    'a total': sql.fragment`UPDATE invoices SET total = total + 1`,
    'a payment': sql.fragment`UPDATE payments SET amount = amount + 1`,
    'a record that is gone': sql.fragment`
      WITH gone AS (DELETE FROM wallet_transactions WHERE credits_available >= 0)
      UPDATE wallets SET credit_balance = credit_balance`,
    'a balance': sql.fragment`UPDATE wallets SET credit_balance = credit_balance + 1`,
  };

  test.for(Object.entries(ALTERATIONS))(
    'show %s that was altered in the database',
    async ([, alteration], { api, database }) => {
      const customer = await api.make('/v1/customers', { external_id: 'a' });
      const wallet = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '5' };
      await api.make('/v1/wallets', wallet);
      const invoice = await api.make('/v1/invoices', {
        ...{ customer_id: customer.id, currency: 'usd', subtotal: '10', total: '10' },
        ...{ amount_due: '10', line_items: [{ display_name: 'Work', amount: '10' }] },
      });
      const path = `/v1/invoices/${invoice.id}/payment`;
      await api.call('PUT', path, { body: { amount: '10' } });
      await expectBalancedBooks(api);
      const owner = ownerOf(database.database);
      for (const table of ['ledger_postings', 'ledger_groups']) {
        const name = sql.identifier([table]);
        await owner.query(sql.type(z.unknown())`ALTER TABLE ${name} DISABLE TRIGGER USER`);
      }
      await owner.query(sql.type(z.unknown())`${alteration}`);
      const { body } = await api.call('GET', '/v1/ledger/verify');
      expect(body.problems.length).toBeGreaterThan(0);
    },
  );

  test('let nobody change or remove a posting, or post the same operation twice', async ({
    api,
    database,
  }) => {
    const customer = await api.make('/v1/customers', { external_id: 'a' });
    const wallet = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '5' };
    await api.make('/v1/wallets', wallet);
    const owner = ownerOf(database.database);
    for (const change of [
      sql.fragment`UPDATE ledger_postings SET amount = amount`,
      sql.fragment`DELETE FROM ledger_groups`,
      sql.fragment`
        INSERT INTO ledger_groups
        SELECT 'ledger_copy', tenant_id, environment_id, customer_id, position + 1, kind, entity_type,
          entity_id, occurrence, currency, posted_at, hash
        FROM ledger_groups`,
    ]) {
      await expect(owner.query(sql.type(z.unknown())`${change}`)).rejects.toThrow();
    }
    await expectBalancedBooks(api);
  });

  test('name documents that each are right, and together give more than there was', async ({
    api,
    bill,
    database,
    money,
  }) => {
    await bill('2026-01-01T00:00:00Z');
    const customer = await api.make('/v1/customers', { external_id: 'a' });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', amount: '100' };
    await api.make('/v1/prices', { ...price, invoice_cadence: 'ADVANCE' });
    const subscription = await api.make('/v1/subscriptions', {
      ...{ customer_id: customer.id, plan_id: plan.id, currency: 'usd' },
      ...{ billing_period: 'MONTHLY', start_date: '2026-01-01T00:00:00Z' },
    });
    const [item] = subscription.line_items;
    const opening = await money.read(subscription.latest_invoice.id);
    await money.pay(opening.id, { amount: '100' });
    const note = await api.make('/v1/creditnotes', {
      invoice_id: opening.id,
      line_items: [{ invoice_line_item_id: opening.line_items[0].id, amount: '20' }],
    });
    await bill('2026-01-16T00:00:00Z');
    const cancel = { proration_behavior: 'create_prorations' };
    await api.make(`/v1/subscriptions/${subscription.id}/cancel`, cancel);
    await expectBalancedBooks(api);
    const owner = ownerOf(database.database);
    const named = async (alteration: FragmentSqlToken) => {
      await owner.query(sql.type(z.unknown())`${alteration}`);
      const { body } = await api.call('GET', '/v1/ledger/verify');
      return body.problems.map((one: Answer) => `${one.entity_id}: ${one.problem}`);
    };
    // 20.00 by the note, and 51.61 for 16 days.
    const credit = (amount: string) =>
      named(sql.fragment`UPDATE line_credits SET amount = ${amount}`);
    expect(await credit('80.01')).toEqual([
      `${opening.id}: 100 was paid and set off for it, or is owed, and 80.01 for unused time, 20 by notes and refunds came back`,
      `${item.id}: invoices charge 100 of it (${opening.id}), and 80.01 for unused time, 20 by notes and refunds came back`,
    ]);
    expect(await credit('51.61')).toEqual([]);
    const refunded = (amount: string) =>
      named(sql.fragment`UPDATE invoices SET refunded_amount = ${amount} WHERE id = ${opening.id}`);
    expect(await refunded('48.4')).toEqual([
      `${opening.id}: 100 was paid and set off for it, or is owed, and 51.61 for unused time, 48.4 by notes and refunds came back`,
    ]);
    expect(await refunded('20')).toEqual([]);
    const grown = sql.fragment`UPDATE wallet_transactions SET reference_id = 'cn_none' WHERE reference_id = ${note.id}`;
    expect(await named(grown)).toEqual([
      expect.stringContaining('20 came by CREDIT_NOTE of cn_none, which gives 0'),
    ]);
    await named(
      sql.fragment`UPDATE wallet_transactions SET reference_id = ${note.id} WHERE reference_id = 'cn_none'`,
    );
    await api.make(`/v1/invoices/${opening.id}/void`, {});
    await expectBalancedBooks(api);
    const paid = (amount: string) =>
      named(sql.fragment`UPDATE invoices SET amount_paid = ${amount} WHERE id = ${opening.id}`);
    // 28.39 to the wallet: 100.00 less the note and the credit.
    expect(await paid('99.99')).toEqual([
      `${customer.id}: 99.99 was paid and set off for voided invoices in usd, and 51.61 for unused time, 20 by notes and refunds, 28.39 by voiding came back`,
    ]);
    expect((await paid('48.38'))[1]).toBe(
      `${opening.id}: 48.38 was paid and set off for it, or is owed, and 20 by notes and refunds, 28.39 by voiding came back`,
    );
    await paid('100');
  });
});
