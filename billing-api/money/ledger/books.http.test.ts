import { createHash } from 'node:crypto';
import { sql, type FragmentSqlToken } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { createSigner } from '../../../runtime/signer.js';
import { instantColumn } from '../../../sql/columns.js';
import { billingNeeds } from '../../testing/bill-environment.js';
import { TOKEN_SECRET } from '../../testing/billing-harness.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import { test, type Answer } from '../../testing/money-test.js';
import { takeAnchor } from './take-anchor.js';
import { verifyBooks } from './verify-books.js';

const movementRow = z.object({
  id: z.string(),
  kind: z.string(),
  entity_type: z.string(),
  entity_id: z.string(),
  currency: z.string(),
  posted_at: instantColumn,
});

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
        customer_id: customer.id,
        currency: 'usd',
        subtotal: '10',
        total: '10',
        amount_due: '10',
        line_items: [{ display_name: 'Work', amount: '10' }],
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

  test('show by an anchor what was altered together with the chain of its hashes', async ({
    api,
    database,
    clickhouse,
  }) => {
    const engines = { database: database.database, clickHouse: clickhouse.client };
    const needs = billingNeeds({ ...engines, environment: api.environment });
    const signer = createSigner(TOKEN_SECRET);
    const actor = { kind: 'job', job: 'anchor-ledgers', runId: 'run' } as const;
    const anchor = () => takeAnchor(needs, { environment: api.environment, actor }, signer);
    const verify = async (query = '') => (await api.call('GET', `/v1/ledger/verify${query}`)).body;
    const credited = async (name: string) => {
      const { id } = await api.make('/v1/customers', { external_id: name });
      const terms = { customer_id: id, currency: 'usd', initial_credits_to_load: '5' };
      const wallet = await api.make('/v1/wallets', terms);
      return { id: String(id), walletId: String(wallet.id) };
    };
    const [one, other] = [await credited('one'), await credited('other')];
    const owner = ownerOf(database.database);
    const alter = async (...statements: readonly FragmentSqlToken[]) => {
      for (const table of [
        'ledger_postings',
        'ledger_groups',
        'ledger_heads',
        'wallet_transactions',
      ]) {
        const name = sql.identifier([table]);
        await owner.query(sql.type(z.unknown())`ALTER TABLE ${name} DISABLE TRIGGER USER`);
      }
      for (const one of statements) await owner.query(sql.type(z.unknown())`${one}`);
    };
    /** The only movement of a customer anew, with the hash that follows from it. */
    const rewrite = async ({ id, walletId }: typeof one, credits: string) => {
      const movement = await owner.one(sql.type(movementRow)`
        SELECT id, kind, entity_type, entity_id, currency, posted_at FROM ledger_groups
        WHERE customer_id = ${id}`);
      const at = formatInstant(movement.posted_at);
      const text = [
        `${movement.id} ${id} ${movement.kind} ${movement.entity_type} ${movement.entity_id} 0 usd ${at}`,
        `wallet_funding - ${credits}`,
        `wallet ${walletId} -${credits}`,
      ];
      const hash = createHash('sha256')
        .update(['', '1', ...text].join('\n'))
        .digest('hex');
      await alter(
        sql.fragment`UPDATE ledger_postings SET amount = sign(amount) * ${credits}::numeric WHERE customer_id = ${id}`,
        sql.fragment`UPDATE ledger_groups SET hash = ${hash} WHERE customer_id = ${id}`,
        sql.fragment`UPDATE ledger_heads SET last_hash = ${hash} WHERE customer_id = ${id}`,
        sql.fragment`UPDATE wallets SET credit_balance = ${credits}::numeric WHERE customer_id = ${id}`,
        sql.fragment`UPDATE wallet_transactions SET credit_amount = ${credits}::numeric,
          credits_available = ${credits}::numeric, amount = ${credits}::numeric WHERE customer_id = ${id}`,
      );
    };
    await rewrite(one, '7');
    expect(await verify()).toMatchObject({ anchor: null, movements: 2, problems: [] });

    const taken = await anchor();
    expect(await anchor()).toMatchObject({ isNew: false });
    const first = await verify();
    expect(first).toMatchObject({
      anchor: { number: 1, customers: 2, movements: 2 },
      problems: [],
    });
    expect(taken).toMatchObject({ isNew: true, anchor: { root: first.anchor.root } });
    await rewrite(one, '9');
    const altered = { entity_type: 'customer', entity_id: one.id };
    expect((await verify()).problems).toEqual([
      { ...altered, problem: 'its movements up to number 1 are not those that were anchored' },
    ]);
    // What was altered is never anchored.
    expect(await anchor()).toMatchObject({ problems: [altered] });
    await rewrite(one, '7');
    expect((await verify()).problems).toEqual([]);

    const third = await credited('third');
    expect(await anchor()).toMatchObject({ anchor: { number: 2, customers: 3, movements: 3 } });
    const kept = (signature: string) => verify(`?anchor=${encodeURIComponent(signature)}`);
    expect((await kept(first.anchor.signature)).problems).toEqual([]);
    expect((await kept('of another ledger')).problems).toMatchObject([{ entity_type: 'anchor' }]);
    await alter(
      ...['ledger_postings', 'ledger_groups', 'ledger_heads'].map(
        (table) =>
          sql.fragment`DELETE FROM ${sql.identifier([table])} WHERE customer_id = ${other.id}`,
      ),
      sql.fragment`DELETE FROM wallet_transactions WHERE customer_id = ${other.id}`,
      sql.fragment`UPDATE wallets SET credit_balance = 0 WHERE customer_id = ${other.id}`,
    );
    const gone = { entity_type: 'customer', entity_id: other.id };
    expect((await verify()).problems).toEqual([
      { ...gone, problem: 'its movement number 1 was anchored, and is gone' },
    ]);
    await alter(sql.fragment`DELETE FROM ledger_anchored_heads WHERE customer_id = ${other.id}`);
    const anchorProblem = { entity_type: 'anchor', entity_id: '2' };
    expect((await verify()).problems).toEqual([
      { ...anchorProblem, problem: 'the list of its heads was altered' },
    ]);
    // Compared in as many pages as there are customers, the same is found.
    await alter(sql.fragment`DELETE FROM wallet_transactions WHERE customer_id = ${third.id}`);
    const { problems } = await verify();
    const occasion = { environment: api.environment, actor };
    const paged = await verifyBooks(needs, occasion, { pages: { read: 1, compared: 1 } });
    expect(paged.problems.map(({ problem }) => problem).sort()).toEqual(
      problems.map(({ problem }: { problem: string }) => problem).sort(),
    );
    expect(problems).toHaveLength(3);
  });

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
      sql.fragment`TRUNCATE ledger_groups, ledger_postings`,
      sql.fragment`DELETE FROM ledger_heads`,
      sql.fragment`UPDATE ledger_heads SET last_hash = ''`,
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
      customer_id: customer.id,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-01-01T00:00:00Z',
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
      named(sql.fragment`
        UPDATE credit_note_lines SET amount = ${amount} WHERE subscription_line_item_id = ${item.id}`);
    expect(await credit('80.01')).toEqual([
      `${opening.id}: 100 was paid and set off for it, or is owed, and 80.01 for unused time, 20 by notes and refunds came back`,
      `${opening.line_items[0].id}: it charges 100 with taxes (${opening.id}), and 80.01 for unused time, 20 by notes and refunds came back`,
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
      `${opening.id}: 99.99 was paid and set off for it, or is owed, and 51.61 for unused time, 20 by notes and refunds, 28.39 by voiding came back`,
    ]);
    await paid('100');
  });
});
