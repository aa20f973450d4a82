import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { createId } from '../../runtime/ids.js';
import { declareSchedules } from '../../sql/jobs/job-table.js';
import { JobRunner } from '../../sql/jobs/job-runner.js';
import { test } from '../testing/billed-test.js';
import { billingNeeds } from '../testing/bill-environment.js';
import { subscribeMonthly } from '../testing/subscribe-monthly.js';
import { WATCH_BILLING } from './watch-billing.js';

const statement = sql.type(z.unknown());

describe('the watch over the billing run', () => {
  test('sees nothing after a run, and each fault when the store is broken by hand', async ({
    api,
    bill,
    database: { database },
    clickhouse,
  }) => {
    await subscribeMonthly(api);
    await bill('2026-12-01T02:00:00.000Z');
    const world = { database, clickHouse: clickhouse.client, environment: api.environment };
    const metrics = createMetrics('billing-api');
    const log = createLog('test', 'silent');
    const needs = billingNeeds(world);
    const runner = new JobRunner({ database, jobs: [WATCH_BILLING], needs, log, metrics });
    await declareSchedules(database.slonik, [WATCH_BILLING], { now: 0, newId: createId });
    let turn = Date.now();
    const shown = async () => {
      turn += 60_000;
      expect(await runner.runNext(turn, new AbortController().signal)).toBe(true);
      const { values } = await metrics.billingFaults.get();
      return values.filter(({ value }) => value > 0).map(({ labels }) => labels.fault);
    };
    const owner = ownerOf(database);
    expect(await shown()).toEqual([]);
    await owner.query(statement`UPDATE invoices SET period_start = period_start - interval '1 day'
      WHERE period_end = '2026-12-01T00:00:00Z' AND billing_reason = 'SUBSCRIPTION_CYCLE'`);
    expect(await shown()).toEqual(['missing_invoice']);
    await owner.query(statement`UPDATE invoices SET period_start = period_start + interval '1 day'
      WHERE period_end = '2026-12-01T00:00:00Z' AND billing_reason = 'SUBSCRIPTION_CYCLE'`);
    await owner.query(statement`UPDATE number_counters SET last_number = last_number + 1`);
    expect(await shown()).toEqual(['number_gap']);
    await owner.query(statement`UPDATE number_counters SET last_number = last_number - 1`);
    await owner.query(statement`UPDATE invoices SET invoice_status = 'DRAFT',
      finalize_at = '2026-12-01T01:00:00Z' WHERE period_end = '2026-12-01T00:00:00Z'
      AND billing_reason = 'SUBSCRIPTION_CYCLE'`);
    expect(await shown()).toEqual([]);
    await owner.query(statement`UPDATE invoices SET finalize_at = '2026-12-01T00:59:59Z'
      WHERE invoice_status = 'DRAFT'`);
    expect(await shown()).toEqual(['late_draft']);
    await owner.query(statement`UPDATE invoices SET invoice_status = 'FINALIZED'`);
    await owner.query(
      statement`UPDATE subscriptions SET current_period_end = '2026-12-01T00:59:59Z'`,
    );
    expect(await shown()).toEqual(['late_renewal']);
  });
});
