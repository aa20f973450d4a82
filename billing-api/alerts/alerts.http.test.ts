import { expect } from 'vitest';
import { COUNT_EVENTS } from '../../contract/aggregation.js';
import { createId } from '../../runtime/ids.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { SPEND_ALERT_JOBS, WALLET_ALERT_JOBS } from '../jobs/page-jobs.js';
import { writeUnit } from '../records/unit.js';
import { billingNeeds, billingRunner } from '../testing/bill-environment.js';
import { test as billedTest } from '../testing/billed-test.js';
import { completeBackfills } from '../testing/finish-partition.js';
import { generationOf } from '../testing/meter-generation.js';
import type { Answer } from '../testing/money-test.js';
import { setTestClock } from '../testing/set-test-clock.js';
import { FREE, makeWallet, topUp } from '../testing/wallet-calls.js';
import { storeEvents } from '../testing/write-usage-minutes.js';
import { findEnvironmentsWith } from '../runs/environments-due.js';

type World = {
  readonly subscription: Answer;
  readonly feature: Answer;
  readonly group: Answer;
  /** Stores an event of so many units, each of which costs 1 usd. */
  readonly use: (at: string, units: number) => Promise<void>;
  /** Evaluates all alerts, twice: the second time changes nothing. */
  readonly evaluate: (at: string) => Promise<void>;
  /** What alerts have told, oldest first. */
  readonly told: () => Promise<readonly (readonly [event: string, alert: Answer])[]>;
  readonly logs: (body?: object) => Promise<Answer[]>;
};

const SUM = { type: 'SUM', field: 'units' } as const;

/** A subscription of October 2026, 20 usd a month and 1 usd for each unit. */
const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill, database, clickhouse }, use) => {
    await bill('2026-10-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const meter = await api.make('/v1/meters', {
      name: 'Units',
      event_name: 'call',
      aggregation: SUM,
    });
    const feature = await api.make('/v1/features', {
      name: 'Units',
      type: 'metered',
      meter_id: meter.id,
    });
    const group = await api.make('/v1/groups', {
      name: 'Storage',
      entity_type: 'price',
      lookup_key: 'storage',
    });
    const ofPlan = { entity_id: plan.id, currency: 'usd' };
    const ofGroup = { group_id: group.id, amount: '1' };
    await api.make('/v1/prices', { ...ofPlan, meter_id: meter.id, ...ofGroup });
    await api.make('/v1/prices', { ...ofPlan, amount: '20', invoice_cadence: 'ARREAR' });
    await api.make('/v1/customers', { external_id: 'acme' });
    const { id } = await api.make('/v1/subscriptions', {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-10-01T00:00:00Z',
    });
    const subscription = (await api.call('GET', `/v1/subscriptions/${id}`)).body;
    await completeBackfills(database.database);
    const generation = await generationOf(database.database, meter.id as string);
    const { environment } = api;
    const target = { environment, meterId: meter.id as string, generation };
    const aggregation = { ...COUNT_EVENTS, ...SUM };
    const engines = { database: database.database, clickHouse: clickhouse.client, environment };
    const look = async (at: string) => {
      const needs = { ...billingNeeds(engines), createId };
      const actor = { kind: 'operator', name: 'test' } as const;
      const jobs = [WALLET_ALERT_JOBS[0], SPEND_ALERT_JOBS[0]];
      for (const job of jobs) {
        await writeUnit(needs, { environment, actor }, (unit) => enqueue(unit, job, { input: {} }));
      }
      await billingRunner(engines, jobs).runDue(Date.parse(at));
    };
    await use({
      subscription,
      feature,
      group,
      use: (at, units) =>
        storeEvents({ database, clickhouse }, environment, [
          {
            at,
            eventName: 'call',
            properties: { units: String(units) },
            countsOn: [{ ...target, aggregation }],
          },
        ]),
      evaluate: async (at) => {
        await setTestClock(database.database, environment, Date.parse(at));
        await look(at);
        await look(at);
      },
      told: async () => {
        const { body } = await api.call('GET', '/v1/webhooks/events?limit=1000');
        return body.items
          .filter(({ payload }: Answer) => payload.alert !== undefined)
          .map(({ event_name: name, payload }: Answer) => [name, payload.alert]);
      },
      logs: async (body = {}) => (await api.make('/v1/alerts/search', body)).items,
    });
  },
});

const below = (threshold: number) => ({ condition: 'below', threshold });
const above = (threshold: number) => ({ condition: 'above', threshold });

test('the real-time balance of a wallet is evaluated, and each change told once', async ({
  api,
  world,
}) => {
  const levels = { critical: below(10), warning: below(40), info: below(60) };
  const wallet = await makeWallet(api, { alert_settings: levels });
  await topUp(api, wallet, { credits_to_add: '100', ...FREE });
  const before = await world.told();
  await world.evaluate('2026-10-05T00:00:00Z');
  // The first ok is silent.
  expect(await world.told()).toEqual(before);
  await world.use('2026-10-05T01:00:00Z', 60);
  await world.evaluate('2026-10-06T00:00:00Z');
  await world.use('2026-10-06T01:00:00Z', 30);
  await world.evaluate('2026-10-07T00:00:00Z');
  await topUp(api, wallet, { credits_to_add: '500', ...FREE });
  await world.evaluate('2026-10-08T00:00:00Z');
  const told = (await world.told()).slice(before.length);
  expect(told).toMatchObject([
    ['wallet.ongoing_balance.updated', { state: 'warning', credit_balance: '40' }],
    [
      'wallet.ongoing_balance.dropped',
      { state: 'warning', alert_type: 'ongoing_balance', credit_balance: '40' },
    ],
    ['wallet.ongoing_balance.updated', { state: 'in_alarm', current_balance: '10' }],
    ['wallet.ongoing_balance.dropped', { state: 'in_alarm', current_balance: '10' }],
    ['wallet.ongoing_balance.updated', { state: 'ok', credit_balance: '510' }],
    ['wallet.ongoing_balance.recovered', { state: 'ok', credit_balance: '510' }],
  ]);
  // Another figure is told also when the state stays, and the same one is not told again.
  await world.use('2026-10-08T01:00:00Z', 7);
  await world.evaluate('2026-10-09T00:00:00Z');
  await world.evaluate('2026-10-09T01:00:00Z');
  expect((await world.told()).slice(before.length + told.length)).toMatchObject([
    [
      'wallet.ongoing_balance.updated',
      { state: 'ok', alert_type: 'ongoing_balance', credit_balance: '503' },
    ],
  ]);
  const logs = await world.logs({ entity_type: 'wallet', alert_type: 'ongoing_balance' });
  expect(logs.map((log) => [log.entity_id, log.alert_status])).toEqual([
    [wallet.id, 'ok'],
    [wallet.id, 'in_alarm'],
    [wallet.id, 'warning'],
  ]);
});

test('the real-time balance is what usage leaves that is not invoiced, or not paid: 100 - 30 - 15', async ({
  api,
  bill,
  world,
}) => {
  await world.use('2026-10-05T00:00:00Z', 15);
  await bill('2026-11-01T02:00:00Z');
  const wallet = await makeWallet(api, { initial_credits_to_load: '100' });
  await world.use('2026-11-05T00:00:00Z', 30);
  await bill('2026-11-06T00:00:00Z');
  const { body } = await api.call('GET', `/v1/wallets/${wallet.id}/balance/real-time`);
  expect(body).toMatchObject({
    balance: '100',
    real_time_balance: '55',
    real_time_credit_balance: '55',
    current_period_usage: '30.00',
    unpaid_invoices_amount: '15.00',
    balance_updated_at: '2026-11-06T00:00:00.000Z',
  });
  // A POST_PAID wallet pays afterwards, and one of another currency nothing of this.
  for (const members of [{ wallet_type: 'POST_PAID' }, { currency: 'eur' }]) {
    const { id } = await makeWallet(api, { ...members, initial_credits_to_load: '9' });
    const other = await api.call('GET', `/v1/wallets/${id}/balance/real-time`);
    expect(other.body.real_time_balance).toBe('9');
  }
});

test('the stored balance is logged with its events', async ({ api, world }) => {
  const wallet = await makeWallet(api, { alert_settings: { critical: below(5) } });
  await topUp(api, wallet, { credits_to_add: '10', ...FREE });
  const debit = { credits: '6', idempotency_key: 'once' };
  await api.call('POST', `/v1/wallets/${wallet.id}/debit`, { body: debit });
  const logs = await world.logs({ entity_id: wallet.id, alert_status: 'in_alarm' });
  expect(logs).toMatchObject([
    { alert_type: 'credit_balance', alert_info: { state: 'in_alarm', credit_balance: '4' } },
  ]);
  expect((await world.told()).at(-1)?.[0]).toBe('wallet.credit_balance.dropped');
});

test('a feature watches the wallets of customers who run it, each apart', async ({
  api,
  world,
}) => {
  await api.call('PUT', `/v1/features/${world.feature.id}`, {
    body: { alert_settings: { critical: below(50) } },
  });
  const wallet = await makeWallet(api);
  await topUp(api, wallet, { credits_to_add: '100', ...FREE });
  const other = await api.make('/v1/customers', { external_id: 'other' });
  await api.make('/v1/wallets', { customer_id: other.id, currency: 'usd' });
  await world.use('2026-10-05T01:00:00Z', 50);
  await world.evaluate('2026-10-06T00:00:00Z');
  expect(await world.logs()).toMatchObject([
    {
      entity_type: 'feature',
      entity_id: world.feature.id,
      alert_status: 'in_alarm',
      alert_info: { wallet_id: wallet.id, customer_id: wallet.customer_id, credit_balance: '50' },
    },
  ]);
  expect((await world.told()).at(-1)?.[0]).toBe('feature.wallet_balance.alert');
});

test('what a subscription, a line and a group spend is evaluated, and recovers with the next period', async ({
  api,
  bill,
  world,
}) => {
  const { subscription, group } = world;
  const lineId = subscription.line_items.find((line: Answer) => line.meter_id !== null).id;
  const watch = (entity_type: string, entity_id: string, threshold: number) =>
    api.make('/v1/alerts/setting', {
      entity_type,
      entity_id,
      alert_settings: { critical: above(threshold) },
    });
  await watch('subscription', subscription.id, 70);
  await watch('subscription_line_item', lineId, 51);
  await watch('group', group.id, 50);
  await world.use('2026-10-05T01:00:00Z', 50);
  await world.evaluate('2026-10-06T00:00:00Z');
  const states = async () =>
    (await world.told()).map(([name, alert]) => [name, alert.threshold, alert.amount]).sort();
  // 50 of usage, and 20 of the month.
  expect(await states()).toEqual([
    ['subscription.group_spend.threshold_reached', '50', '50.00'],
    ['subscription.spend.threshold_reached', '70', '70.00'],
  ]);
  await world.use('2026-10-06T01:00:00Z', 1);
  await world.evaluate('2026-10-07T00:00:00Z');
  const [, [, alert]] = (await world.told()).slice(-2) as [unknown, readonly [string, Answer]];
  expect(alert).toEqual({
    subscription_id: subscription.id,
    line_item_id: lineId,
    group_id: null,
    state: 'in_alarm',
    threshold: '51',
    amount: '51.00',
    currency: 'usd',
  });
  await bill('2026-11-01T04:00:00Z');
  await world.evaluate('2026-11-01T05:00:00Z');
  expect((await states()).map(([name]) => name)).toEqual([
    'subscription.group_spend.threshold_reached',
    'subscription.group_spend.threshold_recovered',
    'subscription.line_item_spend.threshold_reached',
    'subscription.line_item_spend.threshold_recovered',
    'subscription.spend.threshold_reached',
    'subscription.spend.threshold_recovered',
  ]);
});

test('what is disabled is not evaluated, and environments without alerts are left alone', async ({
  api,
  database,
  world,
}) => {
  const { subscription } = world;
  const found = async (work: 'wallet-alerts' | 'spend-alerts') =>
    (await findEnvironmentsWith(database.database, work)).some(
      ({ environmentId }) => environmentId === api.environment.environmentId,
    );
  const settings = { critical: above(10), alert_enabled: false };
  const setting = await api.make('/v1/alerts/setting', {
    entity_type: 'subscription',
    entity_id: subscription.id,
    alert_settings: settings,
  });
  expect([await found('wallet-alerts'), await found('spend-alerts')]).toEqual([false, false]);
  await world.evaluate('2026-10-06T00:00:00Z');
  expect(await world.logs()).toEqual([]);
  await api.call('PUT', `/v1/alerts/setting/${setting.id}`, {
    body: { alert_settings: { critical: above(10) } },
  });
  await makeWallet(api, { alert_settings: { critical: below(1) } });
  expect([await found('wallet-alerts'), await found('spend-alerts')]).toEqual([true, true]);
  await world.evaluate('2026-10-07T00:00:00Z');
  expect(await world.logs({ entity_type: 'subscription' })).toMatchObject([
    { alert_type: 'subscription_spend', alert_info: { amount: '20.00' } },
  ]);
});
