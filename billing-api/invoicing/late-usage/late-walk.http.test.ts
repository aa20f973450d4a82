import { describe, expect } from 'vitest';
import { test } from '../../testing/billed-test.js';
import { correct, revert } from '../../testing/correct-events.js';
import { completeBackfills } from '../../testing/finish-partition.js';
import { generationOf } from '../../testing/meter-generation.js';
import { lookForLate } from '../../testing/look-for-late.js';
import { storeEvents } from '../../testing/write-usage-minutes.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Answer = any;

/** A longer walk by night; five months in CI. */
const MONTHS = Number(process.env['LATE_WALK_MONTHS'] ?? 5);
const SEED = Number(process.env['LATE_WALK_SEED'] ?? 20_270_101);

/** Numbers from 0 to below 1, the same for a seed (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * What a month costs in cents, from docs/domain.md alone: 10 free (10.2); of the rest the first 50
 * at 1.00 and all others at 0.50 (8.3); 10 % off, half-up to a cent (14.5).
 */
function costOf(count: number): number {
  const billed = Math.max(0, count - 10);
  const gross = Math.min(billed, 50) * 100 + Math.max(0, billed - 50) * 50;
  return gross - Math.floor((gross * 10 + 50) / 100);
}

const centsOf = (text: string): number => Math.round(Number(text) * 100);

const monthOf = (index: number): string => {
  const month = new Date(Date.UTC(2027, index, 1));
  return month.toISOString().slice(0, 7);
};

async function subscribe(api: BillingUnderTest): Promise<{ meterId: string; id: string }> {
  const aggregation = { type: 'COUNT' };
  const feature = await api.make('/v1/features', {
    name: 'Calls',
    type: 'metered',
    meter: { name: 'Calls', event_name: 'call', aggregation },
  });
  const plan = await api.make('/v1/plans', { name: 'Pro' });
  await api.make('/v1/prices', {
    entity_id: plan.id,
    currency: 'usd',
    meter_id: feature.meter_id,
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    tiers: [
      { up_to: 50, unit_amount: '1' },
      { up_to: null, unit_amount: '0.5' },
    ],
  });
  await api.make('/v1/entitlements', {
    plan_id: plan.id,
    feature_id: feature.id,
    usage_limit: 10,
  });
  const coupon = await api.make('/v1/coupons', {
    name: 'Ten',
    type: 'percentage',
    percentage_off: '10',
    cadence: 'forever',
    coupon_code: 'TEN',
  });
  const customer = await api.make('/v1/customers', { external_id: 'acme' });
  const subscription = await api.make('/v1/subscriptions', {
    customer_id: customer.id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    billing_cycle: 'calendar',
    start_date: '2027-01-01T00:00:00.000Z',
    coupons: [coupon.coupon_code],
  });
  return { meterId: feature.meter_id as string, id: subscription.id as string };
}

describe('late usage', () => {
  test(`of ${MONTHS} months: what was charged in all is what all usage known by then costs (seed ${SEED})`, async ({
    api,
    bill,
    database,
    clickhouse,
  }) => {
    const random = randomOf(SEED);
    const upTo = (limit: number): number => Math.floor(random() * (limit + 1));
    const { meterId, id } = await subscribe(api);
    await completeBackfills(database.database);
    const { environment } = api;
    const generation = await generationOf(database.database, meterId);
    const target = { environment, meterId, generation };
    // Nothing is too old, so that the policy leaves nothing out.
    const rules = { max_age_days: 3_650 };
    await api.call('PUT', '/v1/settings/late_usage', { body: { value: rules } });
    const known: { readonly id: string; month: number; isWithdrawn: boolean }[] = [];
    const count = async (month: number, more: number): Promise<void> => {
      const day = 1 + upTo(26);
      const at = `${monthOf(month)}-${String(day).padStart(2, '0')}T10:00:00Z`;
      const events = Array.from({ length: more }, () => {
        const id = `walk-${known.length}`;
        known.push({ id, month, isWithdrawn: false });
        return { id, at, eventName: 'call', countsOn: [target] };
      });
      await storeEvents({ database, clickhouse }, environment, events);
    };
    const correcting = { api, database: database.database, clickHouse: clickhouse.client };
    const applied: { readonly id: string; readonly undo: () => void }[] = [];
    /** Withdraws some events, or moves them to another month that is over. */
    const correctSome = async (last: number): Promise<void> => {
      const left = known.filter(({ isWithdrawn }) => !isWithdrawn);
      const chosen = [
        ...new Set(Array.from({ length: 1 + upTo(20) }, () => left[upTo(left.length - 1)])),
      ].filter((one) => one !== undefined);
      const isAmended = random() < 0.5;
      const to = upTo(last);
      const events = chosen.map(({ id: event_id }) =>
        isAmended ? { event_id, timestamp: `${monthOf(to)}-28T00:00:00Z` } : { event_id },
      );
      const { id: correctionId } = await correct(correcting, {
        type: isAmended ? 'amend' : 'withdraw',
        events,
      });
      const before = chosen.map((event) => [event, event.month, event.isWithdrawn] as const);
      for (const event of chosen) {
        if (isAmended) event.month = to;
        else event.isWithdrawn = true;
      }
      const undo = (): void => {
        for (const [event, month, isWithdrawn] of before)
          Object.assign(event, { month, isWithdrawn });
      };
      applied.push({ id: correctionId, undo });
    };
    const revertLast = async (): Promise<void> => {
      const last = applied.pop();
      if (last === undefined) return;
      await revert(correcting, last.id);
      last.undo();
    };
    const countOf = (month: number): number =>
      known.filter((event) => event.month === month && !event.isWithdrawn).length;
    const invoices = async (): Promise<Answer[]> =>
      (
        await api.call('POST', '/v1/invoices/search', {
          body: { subscription_id: id, invoice_status: ['FINALIZED'], limit: 100 },
        })
      ).body.items;
    /** What is known of final periods and not charged: what no invoice could give back yet. */
    const waiting = async (): Promise<number> => {
      const { body } = await api.call('GET', '/v1/billing/late-usage?state=open&limit=1000');
      return body.items.reduce((sum: number, one: Answer) => sum + centsOf(one.open_amount), 0);
    };
    const world = { database: database.database, clickHouse: clickhouse.client, environment };
    for (let month = 0; month < MONTHS; month += 1) {
      await count(month, 1 + upTo(80));
      for (let earlier = 0; earlier < month; earlier += 1) {
        if (random() < 0.5) await count(earlier, 1 + upTo(30));
      }
      for (let step = upTo(3); step > 0; step -= 1) {
        await (random() < 0.7 ? correctSome(month) : revertLast());
      }
      await lookForLate(world);
      await bill(`${monthOf(month + 1)}-01T03:00:00.000Z`);
      const charged = (await invoices()).reduce((sum, { total }) => sum + centsOf(total), 0);
      const costs = Array.from({ length: month + 1 }, (_, one) => costOf(countOf(one)));
      const owed = costs.reduce((sum, cost) => sum + cost, 0);
      // What the invoices of a month cannot give back waits for those that follow.
      const open = await waiting();
      expect(open).toBeLessThanOrEqual(0);
      expect([month, charged + open]).toEqual([month, owed]);
      const made = await invoices();
      const one = made[upTo(made.length - 1)];
      if (random() < 0.7 && one !== undefined) {
        await api.call('POST', `/v1/invoices/${one.id}/void`, { body: {} });
        await api.call('POST', `/v1/invoices/${one.id}/recalculate`);
        await bill(`${monthOf(month + 1)}-02T00:00:00.000Z`);
      }
    }
    for (const { id: invoiceId } of await invoices()) {
      const { body } = await api.call('GET', `/v1/invoices/${invoiceId}/verify`);
      expect(body).toMatchObject({ same_from_inputs: true, same_from_events: true });
    }
  });
});
