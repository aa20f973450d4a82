import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { waitingSessions } from '../../../load-tests/harness/waiting-sessions.js';
import { noRows } from '../../../sql/columns.js';
import type { Database } from '../../../sql/pool.js';
import type { Answer as HttpAnswer } from '../../testing/billing-harness.js';
import { test as billedTest } from '../../testing/billed-test.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import type { Answer } from '../../testing/money-test.js';
import { holdLock, holdRow } from '../../testing/while-locked.js';

/** A customer with a subscription of 100.00 in arrear, and the draft of its October. */
type Billed = { readonly subscription: Answer; readonly draft: Answer };

type World = {
  /** One for each name. */
  readonly billed: (...names: readonly string[]) => Promise<readonly Billed[]>;
  readonly finalize: (one: Billed) => Promise<HttpAnswer>;
  /** Resolves when so many sessions wait for something that another one has locked. */
  readonly untilWaiting: (sessions: number) => Promise<void>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill, database }, use) => {
    await bill('2026-10-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = { entity_id: plan.id, currency: 'usd', invoice_cadence: 'ARREAR' };
    await api.make('/v1/prices', { ...price, amount: '100' });
    await use({
      billed: async (...names) => {
        const subscriptions: Answer[] = [];
        for (const name of names) {
          await api.make('/v1/customers', { external_id: name });
          subscriptions.push(
            await api.make('/v1/subscriptions', {
              external_customer_id: name,
              plan_id: plan.id,
              currency: 'usd',
              billing_period: 'MONTHLY',
              collection_method: 'charge_automatically',
            }),
          );
        }
        await bill('2026-11-01T00:30:00Z');
        const { items } = await api.make('/v1/invoices/search', { limit: 100 });
        return subscriptions.map((subscription) => ({
          subscription,
          draft: items.find((one: Answer) => one.subscription_id === subscription.id),
        }));
      },
      finalize: ({ draft }) => api.call('POST', `/v1/invoices/${draft.id}/finalize`),
      untilWaiting: async (sessions) => {
        await expect
          .poll(() => waitingSessions(ownerOf(database.database)), {
            timeout: 30_000,
            interval: 20,
          })
          .toBe(sessions);
      },
    });
    await expectBalancedBooks(api);
  },
});

const numberOf = ({ status, body }: HttpAnswer) => [status, body.invoice_number];

/** What a finalization needs before it takes its number: the row of the customer `held`. */
const NEEDED: readonly (readonly [what: string, wallet: string | null])[] = [
  ['its subscription', null],
  ['the wallet that pays before the tax', 'PRE_PAID'],
  ['the wallet that pays what is left', 'POST_PAID'],
];

describe('a finalization that waits', () => {
  test.for(NEEDED)(
    'for %s holds up no other of its series',
    async (row, { api, database, world }) => {
      const [, wallet_type] = row;
      const [held, free] = (await world.billed('held', 'free')) as [Billed, Billed];
      let which = sql.fragment`subscriptions WHERE id = ${held.subscription.id}`;
      if (wallet_type !== null) {
        const wallet = await api.make('/v1/wallets', {
          external_customer_id: 'held',
          currency: 'usd',
          wallet_type,
          initial_credits_to_load: '30',
          config: { allowed_price_types: ['ALL'] },
        });
        which = sql.fragment`wallets WHERE id = ${wallet.id}`;
      }
      const lock = await holdRow(database.database, which);
      const waiting = world.finalize(held);
      try {
        await world.untilWaiting(1);
        expect(numberOf(await world.finalize(free))).toEqual([200, 'INV-202611-00001']);
        await world.untilWaiting(1);
      } finally {
        lock.letGo();
      }
      const done = await waiting;
      expect(numberOf(done)).toEqual([200, 'INV-202611-00002']);
      const { total, amount_remaining: remaining } = done.body;
      expect([total, remaining]).toEqual([
        wallet_type === 'PRE_PAID' ? '70.00' : '100.00',
        wallet_type === null ? '100.00' : '70.00',
      ]);
    },
  );
});

/**
 * Lets the finalization of an invoice stop when it has its number, until a lock is let go; with
 * `fails` the database then refuses it.
 */
async function stopAfterNumber(database: Database, { draft }: Billed, fails: boolean) {
  const owner = ownerOf(database);
  const then = fails ? sql.fragment`RAISE EXCEPTION 'no room';` : sql.fragment``;
  await owner.query(sql.type(noRows)`
    CREATE TABLE stopped_invoices (id text)`);
  await owner.query(sql.type(noRows)`INSERT INTO stopped_invoices VALUES (${draft.id})`);
  await owner.query(sql.type(noRows)`GRANT SELECT ON stopped_invoices TO PUBLIC`);
  await owner.query(sql.type(noRows)`
    CREATE FUNCTION stop_numbered() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF NEW.id IN (SELECT id FROM stopped_invoices) THEN
          PERFORM pg_advisory_xact_lock(20261101);
          ${then}
        END IF;
        RETURN NEW;
      END $$`);
  await owner.query(sql.type(noRows)`
    CREATE TRIGGER stop_numbered BEFORE UPDATE ON invoices FOR EACH ROW
      WHEN (NEW.invoice_number IS NOT NULL) EXECUTE FUNCTION stop_numbered()`);
  return holdLock(database, sql.fragment`SELECT pg_advisory_xact_lock(20261101)::text AS id`);
}

describe('a number that is taken and not committed', () => {
  test('is waited for by others of its series, which get the next one, and by no other series', async ({
    api,
    database,
    world,
  }) => {
    const [first, second, other] = (await world.billed('first', 'second', 'other')) as [
      ...[Billed, Billed, Billed],
    ];
    const set = (value: object) =>
      api.call('PUT', '/v1/settings/invoice_config', { body: { value } });
    const lock = await stopAfterNumber(database.database, first, false);
    const began = world.finalize(first);
    let waited: Promise<HttpAnswer> | undefined;
    try {
      await world.untilWaiting(1);
      // The scheme changes meanwhile: its series begins at once.
      await set({ prefix: 'NEW' });
      expect(numberOf(await world.finalize(other))).toEqual([200, 'NEW-202611-00001']);
      await set({});
      waited = world.finalize(second);
      await world.untilWaiting(2);
    } finally {
      lock.letGo();
    }
    expect(numberOf(await began)).toEqual([200, 'INV-202611-00001']);
    expect(numberOf(await waited)).toEqual([200, 'INV-202611-00002']);
  });

  test('is the next one’s when it is rolled back', async ({ database, world }) => {
    const [first, second] = (await world.billed('first', 'second')) as [Billed, Billed];
    const lock = await stopAfterNumber(database.database, first, true);
    const failing = world.finalize(first);
    let waited: Promise<HttpAnswer> | undefined;
    try {
      await world.untilWaiting(1);
      waited = world.finalize(second);
      await world.untilWaiting(2);
    } finally {
      lock.letGo();
    }
    expect((await failing).status).toBe(500);
    expect(numberOf(await waited)).toEqual([200, 'INV-202611-00001']);
    await ownerOf(database.database).query(sql.type(noRows)`DELETE FROM stopped_invoices`);
    expect(numberOf(await world.finalize(first))).toEqual([200, 'INV-202611-00002']);
  });
});
