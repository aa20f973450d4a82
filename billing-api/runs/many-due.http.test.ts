import { setTimeout } from 'node:timers/promises';
import { sql, type FragmentSqlToken } from 'slonik';
import { describe, expect, inject } from 'vitest';
import { z } from 'zod';
import { makeKey } from '../../load-tests/harness/make-key.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { Environment } from '../../contract/environment.js';
import { systemClock } from '../../runtime/clock.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { createId } from '../../runtime/ids.js';
import { integerColumn } from '../../sql/columns.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import type { Job } from '../../sql/jobs/job.js';
import { startJobs } from '../../sql/jobs/start-jobs.js';
import { BILL_ENVIRONMENT } from '../jobs/bill-environment.js';
import { BILLING_JOBS } from '../jobs/billing-jobs.js';
import type { JobNeeds } from '../jobs/job-needs.js';
import { RECOMPUTE_JOBS, WALLET_ALERT_JOBS } from '../jobs/page-jobs.js';
import { writeUnit } from '../records/unit.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { billingNeeds, type BilledWorld } from '../testing/bill-environment.js';
import { test } from '../testing/billed-test.js';
import { expectBalancedBooks } from '../testing/check-books.js';
import type { Answer } from '../testing/money-test.js';
import { setTestClock } from '../testing/set-test-clock.js';
import { subscribeMonthly } from '../testing/subscribe-monthly.js';
import { FREE, makeWallet } from '../testing/wallet-calls.js';
import { holdSubscription } from '../testing/while-locked.js';

/** 10,000 take minutes, so they are a proof of the night (docs/internals/measurements.md). */
const FEW = 110;
const DUE = Number(process.env['DUE_AT_ONCE'] ?? (inject('isNightly') ? 10_000 : FEW));
const START = '2026-10-01T00:00:00.000Z';
const THEN = '2026-11-01T02:00:00.000Z';
const DAY = { value: 1, unit: 'day' };

async function queue(world: BilledWorld, environment: Environment, job: Job<JobNeeds>) {
  const actor = { kind: 'operator', name: 'test' } as const;
  await writeUnit({ ...billingNeeds(world), createId }, { environment, actor }, (unit) =>
    // The jobs that are queued here need nothing to be told.
    enqueue(unit, job as typeof BILL_ENVIRONMENT, { input: {} }),
  );
}

async function subscribeMany(api: BillingUnderTest, planId: string): Promise<void> {
  const numbers = Array.from({ length: DUE - 1 }, (_, number) => number);
  const subscribe = async (number: number): Promise<void> => {
    const { id } = await api.make('/v1/customers', { external_id: `c${number}` });
    await api.make('/v1/subscriptions', {
      customer_id: id,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: START,
    });
  };
  while (numbers.length > 0) await Promise.all(numbers.splice(0, 8).map(subscribe));
}

const countRow = z.object({
  cycles: integerColumn,
  periods: integerColumn,
  numbers: integerColumn,
});

async function cyclesOf({ database, environment }: BilledWorld, status: string) {
  return ownerOf(database).one(sql.type(countRow)`
    SELECT count(*) AS cycles, count(DISTINCT subscription_id) AS periods,
      count(DISTINCT invoice_number) AS numbers FROM invoices
    WHERE environment_id = ${environment.environmentId} AND invoice_status = ${status}
      AND billing_reason = 'SUBSCRIPTION_CYCLE'`);
}

/** Calls of another tenant. */
function otherApi(api: BillingUnderTest, apiKey: string, environment: Environment) {
  const headers = { 'x-api-key': apiKey };
  const call: BillingUnderTest['call'] = (method, path, options) =>
    api.call(method, path, { ...options, headers });
  const make: BillingUnderTest['make'] = async (path, body) => {
    const answer = await call('POST', path, { body });
    expect(answer.status).toBeLessThan(300);
    return answer.body as unknown;
  };
  return { ...api, environment, call, make };
}

describe('subscriptions that are all due at the same second', () => {
  test('are billed once each, and hold up no drafts, alerts and top-ups (SCH-1)', async ({
    api,
    database,
    clickhouse,
    bill,
  }) => {
    await bill(START);
    const { plan } = await subscribeMonthly(api, { start_date: START });
    await subscribeMany(api, plan.id);
    const alerted = await makeWallet(api, {
      initial_credits_to_load: '5',
      config: { allowed_price_types: ['ALL'] },
      alert_settings: { critical: { condition: 'below', threshold: 50 } },
    });
    const { apiKey, environment } = await makeKey(database.database, {});
    const other = otherApi(api, apiKey, environment);
    await setTestClock(database.database, environment, Date.parse(START));
    const { subscription: small } = await subscribeMonthly(other, { start_date: START });
    const low = await makeWallet(other, {
      auto_topup: { enabled: true, threshold: '10', amount: '40', invoicing: false },
    });
    const world = {
      database: database.database,
      clickHouse: clickhouse.client,
      environment: api.environment,
    };
    for (const one of [api.environment, environment])
      await setTestClock(database.database, one, Date.parse(THEN));
    await queue(world, api.environment, BILL_ENVIRONMENT);
    const log = createLog('test', 'silent');
    // One that is held, so that the run for all of them cannot end.
    const { environmentId } = api.environment;
    const { letGo, held } = await holdSubscription(
      database.database,
      sql.fragment`environment_id = ${environmentId} ORDER BY id DESC`,
    );
    const startedAt = performance.now();
    const stop = await startJobs({
      database: database.database,
      jobs: BILLING_JOBS,
      needs: billingNeeds(world),
      clock: systemClock,
      log,
      metrics: createMetrics('billing-api'),
    });
    try {
      while ((await cyclesOf(world, 'DRAFT')).cycles === 0) await setTimeout(10);
      // The large run is under way, and held up: what others need comes now.
      await queue(world, environment, BILL_ENVIRONMENT);
      await queue(world, api.environment, WALLET_ALERT_JOBS[0]);
      await queue(world, api.environment, RECOMPUTE_JOBS[0]);
      const isServed = async (): Promise<boolean> => {
        const { body: wallet } = await other.call('GET', `/v1/wallets/${low.id}`);
        const { items } = await other.make('/v1/invoices/search', {
          subscription_id: small.id,
          billing_reason: 'SUBSCRIPTION_CYCLE',
        });
        const asked = { entity_id: alerted.id, alert_type: 'ongoing_balance' };
        const { items: alerts } = await api.make('/v1/alerts/search', asked);
        const isFinal = items.some((one: Answer) => one.invoice_status === 'FINALIZED');
        return isFinal && alerts.length > 0 && wallet.credit_balance === '40';
      };
      while (!(await isServed())) await setTimeout(20);
      const then = await cyclesOf(world, 'FINALIZED');
      expect(then.cycles).toBeLessThan(DUE);
      letGo();
      await held;
      const servedMs = performance.now() - startedAt;
      while ((await cyclesOf(world, 'FINALIZED')).cycles < DUE) await setTimeout(50);
      const seconds = (performance.now() - startedAt) / 1_000;
      if (DUE > FEW)
        process.stdout.write(
          `${DUE} billed in ${seconds.toFixed(1)} s, others after ${servedMs.toFixed(0)} ms\n`,
        );
    } finally {
      letGo();
      await stop();
    }
    expect(await cyclesOf(world, 'FINALIZED')).toEqual({ cycles: DUE, periods: DUE, numbers: DUE });
    for (const one of [api, other]) await expectBalancedBooks(one);
  }, 3_600_000);
});

describe('the look for what is due', () => {
  test('that is three hours late, or made twice, bills as one in time (SCH-3)', async ({
    api,
    bill,
    database,
    clickhouse,
  }) => {
    await bill(START);
    const { subscription } = await subscribeMonthly(api, { start_date: START });
    const world = {
      database: database.database,
      clickHouse: clickhouse.client,
      environment: api.environment,
    };
    await bill('2026-11-01T05:00:00.000Z');
    for (let time = 0; time < 2; time += 1) {
      await queue(world, api.environment, BILL_ENVIRONMENT);
      await bill('2026-11-01T05:00:00.000Z');
    }
    const { items } = await api.make('/v1/invoices/search', { subscription_id: subscription.id });
    expect(
      items.map((one: Answer) => [one.billing_reason, one.period_end, one.due_date]).sort(),
    ).toEqual([
      ['SUBSCRIPTION_CREATE', '2026-11-01T00:00:00.000Z', '2026-10-02T00:00:00.000Z'],
      ['SUBSCRIPTION_CYCLE', '2026-11-01T00:00:00.000Z', '2026-11-02T00:00:00.000Z'],
    ]);
  });
});

describe('a subscription that cannot be billed', () => {
  test('is set aside with its reason, and the others go on (SCH-4)', async ({
    api,
    bill,
    database,
  }) => {
    await bill(START);
    const { plan, subscription: broken } = await subscribeMonthly(api, { start_date: START });
    await api.make('/v1/customers', { external_id: 'sound' });
    const sound = await api.make('/v1/subscriptions', {
      external_customer_id: 'sound',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: START,
    });
    const owner = ownerOf(database.database);
    const spoil = (pauses: string) =>
      owner.query(sql.type(z.unknown())`UPDATE subscription_periods SET pauses = ${pauses}::jsonb
        WHERE subscription_id = ${broken.id}`);
    await spoil('[{"start": "never", "end": "never"}]');
    await bill(THEN);
    const cycles = async (id: string): Promise<string[]> => {
      const query = { subscription_id: id, billing_reason: 'SUBSCRIPTION_CYCLE' };
      const { items } = await api.make('/v1/invoices/search', query);
      return items.map((one: Answer) => one.invoice_status);
    };
    expect([await cycles(sound.id), await cycles(broken.id)]).toEqual([['FINALIZED'], []]);
    const { body } = await api.call('GET', '/v1/jobs?job=bill-subscription');
    const error = expect.stringContaining('the instant of a pause') as string;
    expect(body.items).toMatchObject([{ key: broken.id, status: 'waiting', error }]);
  });

  test('of any kind stops nothing else of its environment', async ({ api, bill, database }) => {
    await bill(START);
    const owner = ownerOf(database.database);
    const spoil = (statement: FragmentSqlToken) => owner.query(sql.type(z.unknown())`${statement}`);
    const { plan } = await subscribeMonthly(api, { start_date: START });
    const of = { external_customer_id: 'acme', currency: 'usd' };
    const dueOf = async (name: string) => {
      const subscribe = (members: object) =>
        api.make('/v1/subscriptions', {
          ...of,
          plan_id: plan.id,
          billing_period: 'MONTHLY',
          start_date: START,
          ...members,
        });
      const paused = await subscribe({});
      const pause = { pause_start: '2026-10-05T00:00:00Z', pause_mode: 'scheduled', pause_days: 2 };
      await api.make(`/v1/subscriptions/${paused.id}/pause`, pause);
      const waiting = await subscribe({
        subscription_status: 'draft',
        end_date: '2026-10-06T00:00:00Z',
      });
      const grant = await api.make('/v1/creditgrants', {
        name,
        scope: 'SUBSCRIPTION',
        subscription_id: paused.id,
        credits: '5',
        cadence: 'RECURRING',
        period: 'MONTHLY',
        period_count: 1,
        start_date: '2026-10-03T00:00:00.000Z',
      });
      // Of a customer without invoices, for which they would stay.
      const wallet = await makeWallet(api, {
        external_customer_id: 'saver',
        conversion_rate: name === 'sound' ? '2' : '3',
      });
      const credit = { credits_to_add: '10', expiry_date_utc: '2026-10-04T00:00:00Z' };
      await api.make(`/v1/wallets/${wallet.id}/top-up`, { ...credit, ...FREE });
      const old = await subscribe({ start_date: '2026-09-01T00:00:00Z' });
      await bill('2026-10-01T00:30:00Z');
      const drafts = { subscription_id: old.id, invoice_status: ['DRAFT'] };
      const { items } = await api.make('/v1/invoices/search', drafts);
      const [edited] = items;
      await spoil(sql.fragment`UPDATE invoices SET is_manually_edited = true
        WHERE id = ${edited.id}`);
      const auto_topup = { enabled: true, threshold: '1', amount: '4', cooldown: DAY };
      const low = await makeWallet(api, {
        conversion_rate: name === 'sound' ? '5' : '6',
        auto_topup,
      });
      return { paused, waiting, grant, wallet, low, edited };
    };
    await api.make('/v1/customers', { external_id: 'saver' });
    const sound = await dueOf('sound');
    const broken = await dueOf('broken');
    await spoil(sql.fragment`UPDATE subscription_periods
      SET pauses = '[{"start": "never", "end": "never"}]'::jsonb
      WHERE subscription_id IN (${broken.paused.id}, ${broken.waiting.id})`);
    await spoil(sql.fragment`UPDATE credit_grants SET expiration_type = 'DURATION',
      expiration_duration = 100000000, expiration_duration_unit = 'YEAR'
      WHERE id = ${broken.grant.id}`);
    await spoil(
      sql.fragment`UPDATE wallets SET version = 2147483647 WHERE id = ${broken.wallet.id}`,
    );
    await spoil(sql.fragment`UPDATE wallets SET auto_topup = auto_topup || '{"amount": "many"}'
      WHERE id = ${broken.low.id}`);
    await spoil(
      sql.fragment`UPDATE invoice_line_items SET amount = 100.001
      WHERE invoice_id = ${broken.edited.id}`,
    );
    await bill('2026-10-10T00:00:00Z');
    const outcomeOf = async ({ paused, waiting, wallet, low, edited }: Answer) => {
      const read = async (path: string) => (await api.call('GET', `/v1/${path}`)).body;
      return [
        (await read(`subscriptions/${paused.id}`)).subscription_status,
        (await read(`subscriptions/${waiting.id}`)).subscription_status,
        (await read(`wallets/${wallet.id}/transactions`)).items.length,
        (await read(`wallets/${low.id}/transactions`)).items.length,
        (
          await owner.one(sql.type(z.object({ status: z.string() }))`
          SELECT invoice_status AS status FROM invoices WHERE id = ${edited.id}`)
        ).status,
      ];
    };
    expect(await outcomeOf(sound)).toEqual(['active', 'cancelled', 2, 1, 'FINALIZED']);
    expect(await outcomeOf(broken)).toEqual(['paused', 'draft', 1, 0, 'DRAFT']);
    const { credits } = await owner.one(sql.type(z.object({ credits: z.string() }))`
      SELECT sum(credit_amount)::text AS credits FROM wallet_transactions
      WHERE transaction_reason = 'SUBSCRIPTION_CREDIT_GRANT'
        AND environment_id = ${api.environment.environmentId}`);
    expect(credits).toBe('5');
    const { body } = await api.call('GET', '/v1/jobs?limit=100');
    const aside = body.items
      .filter((one: Answer) => one.error !== null)
      .map((one: Answer) => `${one.job} ${one.key}`);
    const [credit] = (await api.call('GET', `/v1/wallets/${broken.wallet.id}/transactions`)).body
      .items;
    expect(aside.sort()).toEqual([
      `apply-credit-grant ${broken.grant.id}`,
      `end-waiting-subscription ${broken.waiting.id}`,
      `expire-credits ${credit.id}`,
      `finalize-edited-invoice ${broken.edited.id}`,
      `settle-pause ${broken.paused.id}`,
      `top-up-wallet ${broken.low.id}`,
    ]);
  });
});
