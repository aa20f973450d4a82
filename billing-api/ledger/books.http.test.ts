import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { expectBalancedBooks } from '../testing/check-books.js';
import { test } from '../testing/money-test.js';

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
});
