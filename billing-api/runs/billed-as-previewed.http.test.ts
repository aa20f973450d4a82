import { describe, expect } from 'vitest';
import { drawSeed } from '../../load-tests/harness/draw-seed.js';
import { createUsageReader } from '../usage/store/usage-reader.js';
import { createPostgresDataUntil } from '../usage/watermark/data-until.js';
import { billingNeeds } from '../testing/bill-environment.js';
import { test } from '../testing/billed-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import type { Answer } from '../testing/money-test.js';
import { CountedStores, statementsOf } from '../testing/counted-stores.js';
import { makeManySubscribers } from '../testing/many-subscribers.js';
import { setTestClock } from '../testing/set-test-clock.js';
import { FINALIZATION, RENEWAL, takeTurn } from './run-billing.js';

const COUNT = Number(process.env['BILLED_SUBSCRIBERS'] ?? '24');
const NOW = '2026-11-06T12:00:00.000Z';

/** More statements than this for a turn would grow with the number of its invoices. */
const STATEMENTS_MAX = { renewal: 45, finalization: 45, clickHouse: 1 };

describe('invoices that the billing run stores', () => {
  const seed = drawSeed();

  test(
    `are those that were previewed, verified from inputs and events, with as many statements as one: seed ${seed}`,
    { timeout: 600_000 },
    async ({ api, clock, database, clickhouse, bill }) => {
      clock.set(NOW);
      const engines = { database, clickhouse };
      await makeManySubscribers(api, engines, { count: COUNT, seed });
      const { environment } = api;
      await setTestClock(database.database, environment, Date.parse(NOW));
      const client = clickhouse.client;
      const stores = new CountedStores({ database: database.database, clickHouse: client });
      const world = { database: database.database, clickHouse: client, environment };
      const needs = {
        ...billingNeeds(world),
        database: stores.database,
        usage: createUsageReader(stores.queries),
        dataUntil: createPostgresDataUntil(database.database, 0),
      };
      const actor = { kind: 'job', job: 'test', runId: 'test' } as const;
      const due = { limit: 100, only: null };
      const occasion = { environment, actor };
      const counted = { renewal: 0, finalization: 0, clickHouse: 0 };
      const kinds = [['renewal', RENEWAL] as const, ['finalization', FINALIZATION] as const];
      for (const [name, kind] of kinds) {
        const { postgres, clickHouse } = await stores.during(async () => {
          const { done } = await takeTurn(needs, occasion, { ...kind, due });
          expect(done).toBe(Math.min(COUNT, 100));
        });
        counted[name] = postgres;
        counted.clickHouse = Math.max(counted.clickHouse, clickHouse);
      }
      for (const [name, count] of Object.entries(counted)) {
        const most = STATEMENTS_MAX[name as keyof typeof counted];
        expect([name, count <= most, count]).toEqual([name, true, count]);
      }
      await bill(NOW);
      const body = { limit: 1_000, billing_reason: 'SUBSCRIPTION_CYCLE' };
      const { body: found } = await api.call('POST', '/v1/invoices/search', { body });
      expect(found.items.length).toBeGreaterThanOrEqual(COUNT);
      for (const invoice of found.items.slice(0, 60)) {
        const { subscription_id, period_start, period_end } = invoice;
        const { body: preview } = await api.call('POST', '/v1/invoices/preview', {
          body: { subscription_id, period_start, period_end },
        });
        const amounts = (of: typeof invoice) => [
          of.subtotal,
          of.total_discount,
          of.total_tax,
          of.total,
          of.due_date,
          of.line_items.map((line: typeof invoice) => [
            line.display_name,
            line.quantity,
            line.amount,
          ]),
        ];
        expect([invoice.id, amounts(invoice)]).toEqual([invoice.id, amounts(preview)]);
        const { body: verified } = await api.call('GET', `/v1/invoices/${invoice.id}/verify`);
        expect([invoice.id, verified]).toEqual([
          invoice.id,
          expect.objectContaining({
            same_from_inputs: true,
            same_from_events: true,
            differences: [],
          }),
        ]);
      }
    },
  );
});

/** A request takes no more statements than these, in transactions of its environment. */
const REQUEST_MAX = {
  create: 26,
  createWithAll: 34,
  change: 63,
  cancel: 50,
  payment: 19,
  finalization: 37,
};

/** A plan of 100 in arrear, 30 in advance and 0.25 for each call, at this factor. */
async function makePlan(api: BillingUnderTest, factor: number) {
  const aggregation = { type: 'COUNT' };
  const meter = await api.make('/v1/meters', { name: 'Calls', event_name: 'call', aggregation });
  const plan = await api.make('/v1/plans', { name: `Plan ${factor}` });
  const makePrice = (amount: number, members: object) => {
    const price = { entity_id: plan.id, currency: 'usd', amount: `${amount * factor}` };
    return api.make('/v1/prices', { ...price, ...members });
  };
  const arrear = await makePrice(100, { invoice_cadence: 'ARREAR' });
  await makePrice(30, { invoice_cadence: 'ADVANCE' });
  const usage = await makePrice(0.25, { meter_id: meter.id });
  return { planId: plan.id, arrearId: arrear.id, usageId: usage.id };
}

/** An addon of 5 a month and a coupon of 10 %. */
async function makeExtras(api: BillingUnderTest) {
  const addon = await api.make('/v1/addons', { name: 'Support', lookup_key: 'support' });
  const owner = { entity_type: 'ADDON', entity_id: addon.id };
  await api.make('/v1/prices', { ...owner, currency: 'usd', amount: '5' });
  const discount = { type: 'percentage', percentage_off: '10', cadence: 'forever' };
  await api.make('/v1/coupons', { coupon_code: 'TEN', name: 'Ten', ...discount });
  return { addonId: addon.id };
}

describe('requests that make invoices', () => {
  test('send few statements', async ({ api, bill, database }) => {
    await bill('2026-10-01T00:00:00.000Z');
    const one = await makePlan(api, 1);
    const two = await makePlan(api, 2);
    const { addonId } = await makeExtras(api);
    await api.make('/v1/customers', { external_id: 'acme' });
    const counts: Partial<Record<keyof typeof REQUEST_MAX, readonly string[]>> = {};
    const count = async (name: keyof typeof REQUEST_MAX, send: () => Promise<Answer>) => {
      let answer: Answer = null;
      counts[name] = await statementsOf(database.database, async () => {
        answer = await send();
      });
      return answer;
    };
    const monthly = { currency: 'usd', billing_period: 'MONTHLY' };
    const subscribe = (members: object = {}) =>
      api.make('/v1/subscriptions', {
        external_customer_id: 'acme',
        plan_id: one.planId,
        ...monthly,
        ...members,
      });
    await count('create', subscribe);
    const other = await subscribe();
    const full = await count('createWithAll', () =>
      subscribe({
        coupons: ['TEN'],
        addons: [{ addon_id: addonId }],
        override_line_items: [{ price_id: one.arrearId, amount: '90' }],
        line_item_commitments: {
          [one.usageId]: { commitment_amount: '50', commitment_overage_factor: '1.5' },
        },
      }),
    );
    await count('payment', () => {
      const body = { payment_status: 'SUCCEEDED' };
      return api.call('PUT', `/v1/invoices/${full.latest_invoice.id}/payment`, { body });
    });
    await bill('2026-10-10T00:00:00.000Z');
    await count('change', () =>
      api.make(`/v1/subscriptions/${full.id}/change/execute`, {
        target_plan_id: two.planId,
        billing_cadence: 'RECURRING',
        billing_cycle: 'anniversary',
        billing_period: 'MONTHLY',
        billing_period_count: 1,
        proration_behavior: 'create_prorations',
      }),
    );
    await count('cancel', () =>
      api.make(`/v1/subscriptions/${other.id}/cancel`, { proration_behavior: 'create_prorations' }),
    );
    await bill('2026-11-01T00:30:00.000Z');
    const { items } = await api.make('/v1/invoices/search', { invoice_status: ['DRAFT'] });
    await count('finalization', () => api.make(`/v1/invoices/${items[0].id}/finalize`, {}));
    for (const [name, texts] of Object.entries(counts)) {
      const most = REQUEST_MAX[name as keyof typeof REQUEST_MAX];
      const table = texts.length <= most ? '' : texts.join('\n');
      expect([name, texts.length <= most, table]).toEqual([name, true, '']);
    }
  });
});
