import { setTimeout } from 'node:timers/promises';
import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { drawSeed } from '../../load-tests/harness/draw-seed.js';
import { createId } from '../../runtime/ids.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { BILL_ENVIRONMENT } from '../jobs/bill-environment.js';
import { writeUnit } from '../records/unit.js';
import { billingNeeds } from '../testing/bill-environment.js';
import { test } from '../testing/billed-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { expectBalancedBooks } from '../testing/check-books.js';
import { countOf, killAgainAndAgain } from '../testing/kill-workers.js';
import { setTestClock } from '../testing/set-test-clock.js';

/** A thousand takes minutes: load-tests/README.md says how. */
const SUBSCRIPTIONS = Number(process.env['BILLED_SUBSCRIPTIONS'] ?? '60');
const PERIODS = 3;
/** Processes that bill at once. */
const WORKERS = Number(process.env['BILLED_WORKERS'] ?? '3');
/** Three months after the start, and after the delay of the last draft. */
const THEN = '2027-01-01T02:00:00.000Z';
const START = '2026-10-01T00:00:00.000Z';
const CREDITS = '200';

/** The server has 200 connections for all. */
const POOL_SIZE = WORKERS > 20 ? 3 : 4;

async function subscribeAll(api: BillingUnderTest): Promise<void> {
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  const price = { entity_id: plan.id, currency: 'usd' };
  await api.make('/v1/prices', { ...price, amount: '100', invoice_cadence: 'ARREAR' });
  await api.make('/v1/prices', { ...price, amount: '30', invoice_cadence: 'ADVANCE' });
  const numbers = Array.from({ length: SUBSCRIPTIONS }, (_, number) => number);
  const subscribe = async (number: number): Promise<void> => {
    const customer = await api.make('/v1/customers', { external_id: `c${number}` });
    await api.make('/v1/subscriptions', {
      customer_id: customer.id,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: START,
    });
    // It pays the first invoice of the run and a part of the second.
    await api.make('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      initial_credits_to_load: CREDITS,
      config: { allowed_price_types: ['ALL'] },
    });
  };
  while (numbers.length > 0) await Promise.all(numbers.splice(0, 8).map(subscribe));
}

/** Pays invoices that are open, each of them again and again with one key. */
async function payByCalls(api: BillingUnderTest, isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) {
    const body = { invoice_status: ['FINALIZED'], payment_status: ['PENDING'], limit: 10 };
    const { body: found } = await api.call('POST', '/v1/invoices/search', { body });
    const pay = ({ id, amount_remaining: amount }: Record<string, string>) =>
      api.call('POST', '/v1/payments', {
        body: {
          destination_type: 'INVOICE',
          destination_id: id,
          payment_method_type: 'OFFLINE',
          amount,
          currency: 'usd',
          idempotency_key: `of ${id}`,
          process_payment: true,
        },
      });
    await Promise.all([...found.items, ...found.items].map(pay));
    await setTimeout(100);
  }
}

/** Calls that finalize drafts while the workers do, as long as there are any. */
async function finalizeByCalls(api: BillingUnderTest, isDone: () => Promise<boolean>) {
  while (!(await isDone())) {
    const body = { invoice_status: ['DRAFT'], limit: 5, skip_line_items: true };
    const { body: found } = await api.call('POST', '/v1/invoices/search', { body });
    await Promise.all(
      found.items.map(({ id }: { readonly id: string }) =>
        api.call('POST', `/v1/invoices/${id}/finalize`),
      ),
    );
    await setTimeout(100);
  }
}

/** Problems of what is stored, each by the number of rows that show it. */
const PROBLEMS = {
  'a number is missing or used twice in its series': sql.fragment`(
    SELECT substring(invoice_number from '^.*-') AS series FROM invoices
    WHERE invoice_number IS NOT NULL GROUP BY 1
    HAVING count(*) <> max(substring(invoice_number from '[0-9]+$')::int)
      OR count(DISTINCT invoice_number) <> count(*)) AS found`,
  'invoices of a subscription are not counted 1, 2, 3': sql.fragment`(
    SELECT subscription_id FROM invoices GROUP BY 1
    HAVING count(*) <> max(billing_sequence) OR min(billing_sequence) <> 1) AS found`,
  'a sum is not the sum of its lines': sql.fragment`(
    SELECT invoice.id FROM invoices AS invoice JOIN invoice_line_items AS line
      ON line.invoice_id = invoice.id
    GROUP BY invoice.id HAVING sum(line.amount) <> invoice.subtotal
      OR sum(line.prepaid_credits_applied) <> invoice.total_prepaid_credits_applied
      OR invoice.total <> invoice.subtotal - invoice.total_discount + invoice.total_tax
        - invoice.total_prepaid_credits_applied) AS found`,
  'credits of a wallet are left, or were taken twice': sql.fragment`(
    SELECT wallet.id FROM wallets AS wallet JOIN wallet_transactions AS movement
      ON movement.wallet_id = wallet.id AND movement.type = 'debit'
    GROUP BY wallet.id HAVING wallet.credit_balance <> 0
      OR sum(movement.amount) <> 200 OR count(*) <> 2) AS found`,
  'an amount is paid more or less than once': sql.fragment`(
    SELECT invoice.id FROM invoices AS invoice JOIN payments AS payment
      ON payment.destination_id = invoice.id
    GROUP BY invoice.id HAVING invoice.amount_paid <> sum(payment.amount)
      OR invoice.overpaid_amount <> 0) AS found`,
  'a period does not begin where the one before ends': sql.fragment`(
    SELECT 1 FROM subscription_periods AS next JOIN subscription_periods AS last
      ON last.subscription_id = next.subscription_id AND last.period_index = next.period_index - 1
    WHERE next.period_start <> last.period_end) AS found`,
  'a finalized invoice is not announced exactly once': sql.fragment`(
    SELECT invoice.id FROM invoices AS invoice LEFT JOIN system_events AS event
      ON event.entity_id = invoice.id AND event.event_name = 'invoice.update.finalized'
    WHERE invoice.invoice_status = 'FINALIZED'
    GROUP BY invoice.id HAVING count(event.id) <> 1) AS found`,
  'system events have a gap': sql.fragment`(
    SELECT 1 FROM system_events HAVING count(*) <> max(sequence)) AS found`,
  'a line is billed twice': sql.fragment`(
    SELECT subscription_line_item_id FROM invoice_line_items
    GROUP BY subscription_line_item_id, price_id, period_start HAVING count(*) > 1) AS found`,
} as const;

describe('billing by several processes that are killed at random', () => {
  const seed = drawSeed();

  test(
    `makes one invoice for each period, and numbers without a gap (INV-1, NUM-1, SCH-2): seed ${seed}`,
    { timeout: 900_000 },
    async ({ api, database, clickhouse }) => {
      const engines = {
        databaseUrl: database.url,
        clickHouseUrl: clickhouse.url,
        poolSize: POOL_SIZE,
      };
      await subscribeAll(api);
      const opened = await countOf(database.database, sql.fragment`invoices`);
      expect(opened).toBe(SUBSCRIPTIONS);
      const { environment } = api;
      await setTestClock(database.database, environment, Date.parse(THEN));
      const world = { database: database.database, clickHouse: clickhouse.client, environment };
      const actor = { kind: 'operator', name: 'test' } as const;
      await writeUnit({ ...billingNeeds(world), createId }, { environment, actor }, (unit) =>
        enqueue(unit, BILL_ENVIRONMENT, { input: {} }),
      );
      const isDone = async (): Promise<boolean> =>
        (await countOf(
          database.database,
          sql.fragment`invoices WHERE invoice_status = 'FINALIZED'
            AND billing_reason = 'SUBSCRIPTION_CYCLE'`,
        )) ===
        SUBSCRIPTIONS * PERIODS;
      const set = (value: object) =>
        api.call('PUT', '/v1/settings/invoice_config', { body: { value } });
      const [kills] = await Promise.all([
        killAgainAndAgain(engines, { seed, isDone, workers: WORKERS, pauseMs: [50, 700] }),
        finalizeByCalls(api, isDone),
        payByCalls(api, isDone),
        setTimeout(300).then(() => set({ prefix: 'ACME' })),
        setTimeout(1_500).then(() => set({})),
      ]);
      expect(kills).toBeGreaterThan(0);
      for (const [problem, rows] of Object.entries(PROBLEMS)) {
        expect([problem, await countOf(database.database, rows)]).toEqual([problem, 0]);
      }
      const all = await countOf(database.database, sql.fragment`invoices`);
      expect(all).toBe(SUBSCRIPTIONS * (PERIODS + 1));
      const totals = await countOf(
        database.database,
        sql.fragment`invoices WHERE billing_reason = 'SUBSCRIPTION_CYCLE' AND subtotal = 130`,
      );
      expect(totals).toBe(SUBSCRIPTIONS * PERIODS);
      await expectBalancedBooks(api);
      // The run of an environment that was killed ten times is parked; the next look queues
      // another.
      const parked = await countOf(
        database.database,
        sql.fragment`jobs WHERE status = 'parked' AND name <> 'bill-environment'`,
      );
      expect(parked).toBe(0);
    },
  );
});
