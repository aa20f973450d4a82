import { sql, type FragmentSqlToken } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { Database } from '../../sql/pool.js';
import { test as billedTest } from '../testing/billed-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { setTestClock } from '../testing/set-test-clock.js';
import { subscribeMonthly } from '../testing/subscribe-monthly.js';
import { createWatch, type WatchFaults } from '../testing/watch-faults.js';

const statement = sql.type(z.unknown());

const test = billedTest.extend<{ shown: WatchFaults; turn: (instant: string) => Promise<unknown> }>(
  {
    shown: async ({ api, database: { database }, clickhouse }, use) =>
      use(
        await createWatch({
          database,
          clickHouse: clickhouse.client,
          environment: api.environment,
        }),
      ),
    // Turns the clock, and nothing is done.
    turn: async ({ api, database: { database } }, use) =>
      use((instant) => setTestClock(database, api.environment, Date.parse(instant))),
  },
);

/** Shifts invoices by a day, so that their periods have none; or back again. */
async function shift(database: Database, days: 1 | -1, which: FragmentSqlToken) {
  await ownerOf(database).query(statement`
    UPDATE invoices SET period_start = period_start + ${days} * interval '1 day' WHERE ${which}`);
}

const subscribe = (api: BillingUnderTest, planId: string, members: object) =>
  api.make('/v1/subscriptions', {
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: '2026-10-01T00:00:00.000Z',
    ...members,
  });

describe('the watch over the billing run', () => {
  test('sees nothing after a run, and each fault when the store is broken by hand (SCH-5, INV-11)', async ({
    api,
    bill,
    database: { database },
    shown,
  }) => {
    const { subscription, customer } = await subscribeMonthly(api);
    await bill('2026-12-01T02:00:00.000Z');
    const owners = [subscription.id, customer.id];
    const owner = ownerOf(database);
    const left = async () => {
      const { body } = await api.call('GET', '/v1/billing/leftovers');
      return body.items.map((one: Record<string, unknown>) => [
        one['kind'],
        one['subscription_id'],
        one['customer_id'],
        one['age_seconds'],
      ]);
    };
    expect([await shown(), await left()]).toEqual([[], []]);
    const november = sql.fragment`period_end = '2026-12-01T00:00:00Z'
      AND billing_reason = 'SUBSCRIPTION_CYCLE'`;
    await shift(database, -1, november);
    expect(await shown()).toEqual(['missing_invoice']);
    expect(await left()).toEqual([['missing_invoice', ...owners, 7_200]]);
    await shift(database, 1, november);
    await owner.query(statement`UPDATE number_counters SET last_number = last_number + 1`);
    expect(await shown()).toEqual(['number_gap']);
    await owner.query(statement`UPDATE number_counters SET last_number = last_number - 1`);
    await owner.query(statement`UPDATE invoices SET invoice_status = 'DRAFT',
      finalize_at = '2026-12-01T01:00:00Z' WHERE ${november}`);
    expect(await shown()).toEqual([]);
    await owner.query(statement`UPDATE invoices SET finalize_at = '2026-12-01T00:59:59Z'
      WHERE invoice_status = 'DRAFT'`);
    // It was made at two o'clock, as those of periods that ended long before.
    expect(await shown()).toEqual([]);
    await owner.query(statement`UPDATE invoices SET created_at = '2026-12-01T00:00:00Z'
      WHERE invoice_status = 'DRAFT'`);
    expect(await shown()).toEqual(['late_draft']);
    expect(await left()).toEqual([['late_draft', ...owners, 3_601]]);
    // The run tells of an unpaid invoice within the hour.
    const unpaid = sql.fragment`UPDATE invoices SET
      invoice_status = 'FINALIZED', finalized_at = '2026-12-01T00:00:00Z', overdue_at = NULL`;
    await owner.query(statement`${unpaid}, due_date = '2026-12-01T01:00:00Z' WHERE ${november}`);
    expect(await shown()).toEqual([]);
    await owner.query(statement`${unpaid}, due_date = '2026-12-01T00:59:59Z' WHERE ${november}`);
    expect(await shown()).toEqual(['late_overdue']);
    expect(await left()).toEqual([['late_overdue', ...owners, 3_601]]);
    await owner.query(statement`UPDATE invoices SET overdue_at = now() WHERE ${november}`);
    const period = sql.fragment`UPDATE subscriptions SET current_period_start = current_period_start`;
    await owner.query(statement`${period} + interval '2 hours 1 second'`);
    expect(await shown()).toEqual(['future_period']);
    expect(await left()).toEqual([['future_period', ...owners, 1]]);
  });

  test('misses the invoice of a period although others have the same dates', async ({
    api,
    bill,
    database: { database },
    shown,
  }) => {
    await bill('2026-10-01T00:00:00.000Z');
    const { customer, subscription } = await subscribeMonthly(api);
    // The opening invoice has the dates of October.
    await bill('2026-11-01T02:00:00.000Z');
    expect(await shown()).toEqual([]);
    const ofRun = sql.fragment`billing_reason = 'SUBSCRIPTION_CYCLE'`;
    await shift(database, -1, ofRun);
    expect(await shown()).toEqual(['missing_invoice']);
    await shift(database, 1, ofRun);
    await bill('2026-12-01T02:00:00.000Z');
    await api.make('/v1/invoices', {
      customer_id: customer.id,
      subscription_id: subscription.id,
      currency: 'usd',
      invoice_type: 'SUBSCRIPTION',
      billing_period: 'MONTHLY',
      period_start: '2026-11-01T00:00:00.000Z',
      period_end: '2026-12-01T00:00:00.000Z',
      subtotal: '9',
      total: '9',
      amount_due: '9',
      line_items: [{ display_name: 'By hand', quantity: '1', amount: '9' }],
    });
    expect(await shown()).toEqual([]);
    await shift(database, -1, sql.fragment`${ofRun} AND period_end = '2026-12-01T00:00:00Z'`);
    expect(await shown()).toEqual(['missing_invoice']);
  });

  test('knows which invoice has to close a trial, and the period of a child', async ({
    api,
    bill,
    database: { database },
    shown,
  }) => {
    await bill('2026-10-01T00:00:00.000Z');
    const { plan } = await subscribeMonthly(api);
    for (const external_id of ['trial', 'heir', 'child', 'holding']) {
      await api.make('/v1/customers', { external_id });
    }
    await subscribe(api, plan.id, { external_customer_id: 'trial', trial_period_days: 31 });
    const child = await subscribe(api, plan.id, { external_customer_id: 'child' });
    const parent = await subscribe(api, plan.id, {
      external_customer_id: 'holding',
      inheritance: {
        grouped_invoicing_child_ids: [child.id],
        external_customer_ids_to_inherit_subscription: ['heir'],
      },
    });
    await bill('2026-11-01T02:00:00.000Z');
    expect(await shown()).toEqual([]);
    const afterTrial = sql.fragment`billing_reason = 'SUBSCRIPTION_TRIAL_END'`;
    await shift(database, -1, afterTrial);
    expect(await shown()).toEqual(['missing_invoice']);
    await shift(database, 1, afterTrial);
    expect(await shown()).toEqual([]);
    // Without the parent's invoice, its own period has none, nor that of the grouped child.
    const ofParent = sql.fragment`subscription_id = ${parent.id}
      AND billing_reason = 'SUBSCRIPTION_CYCLE'`;
    await ownerOf(database).query(statement`
      UPDATE invoices SET period_end = period_end - interval '1 day' WHERE ${ofParent}`);
    const { missing } = await ownerOf(database).one(sql.type(z.object({ missing: z.string() }))`
      SELECT missing_invoices::text AS missing FROM find_billing_state(now())`);
    expect(missing).toBe('2');
    expect(await shown()).toEqual(['missing_invoice']);
  });

  test('calls a renewal late an hour after the run could have taken it, not before', async ({
    api,
    bill,
    shown,
    turn,
  }) => {
    await turn('2027-02-10T12:00:00.000Z');
    const { plan } = await subscribeMonthly(api);
    // It began four months ago, and nobody could renew it before now.
    await turn('2027-02-10T13:00:00.000Z');
    expect(await shown()).toEqual([]);
    await turn('2027-02-10T13:00:00.001Z');
    // Its first invoice was overdue when it was made.
    expect(await shown()).toEqual(['late_renewal', 'late_overdue']);
    const { body: left } = await api.call('GET', '/v1/billing/leftovers');
    const since = '2027-02-10T12:00:00.000Z';
    expect(left.items).toHaveLength(2);
    expect(left.items).toContainEqual(
      expect.objectContaining({ kind: 'late_renewal', invoice_id: null, since }),
    );
    expect(left.items).toContainEqual(expect.objectContaining({ kind: 'late_overdue', since }));
    await bill('2027-02-10T14:00:00.000Z');
    expect(await shown()).toEqual([]);
    await turn('2027-03-01T01:00:00.000Z');
    expect(await shown()).toEqual([]);
    await turn('2027-03-01T01:00:00.001Z');
    expect(await shown()).toEqual(['late_renewal']);
    await bill('2027-03-01T02:00:00.000Z');
    // One that waited for its first payment is renewed from then on.
    await api.make('/v1/customers', { external_id: 'unpaid' });
    const unpaid = await subscribe(api, plan.id, {
      external_customer_id: 'unpaid',
      payment_behavior: 'allow_incomplete',
    });
    await turn('2027-03-10T00:00:00.000Z');
    // Nobody could renew it before it is paid; no run has told that its payment is overdue.
    expect(await shown()).toEqual(['late_overdue']);
    const path = `/v1/invoices/${unpaid.latest_invoice.id}/payment`;
    await api.call('PUT', path, { body: { payment_status: 'SUCCEEDED' } });
    await turn('2027-03-10T01:00:00.000Z');
    expect(await shown()).toEqual(['late_overdue']);
    await turn('2027-03-10T01:00:00.001Z');
    expect(await shown()).toEqual(['late_renewal', 'late_overdue']);
  });
});
