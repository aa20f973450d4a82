import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { test, type Hierarchy } from '../../testing/hierarchy-test.js';
import type { Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';

const COMMITTED = { commitment_amount: '100', overage_factor: '1.5', enable_true_up: true };

/** A plan of 200.00 in advance and 3.00 for each unit, beside that of 100.00 and 2.00. */
async function makeMax(api: BillingUnderTest, { meterId }: Hierarchy): Promise<string> {
  const plan = await api.make('/v1/plans', { name: 'Max' });
  const ofPlan = { entity_id: plan.id, currency: 'usd' };
  await api.make('/v1/prices', { ...ofPlan, amount: '200', invoice_cadence: 'ADVANCE' });
  await api.make('/v1/prices', { ...ofPlan, amount: '3', meter_id: meterId });
  return plan.id;
}

async function change(api: BillingUnderTest, id: string, members: object): Promise<Answer> {
  const body = {
    billing_cadence: 'RECURRING',
    billing_cycle: 'anniversary',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    proration_behavior: 'create_prorations',
    ...members,
  };
  return api.call('POST', `/v1/subscriptions/${id}/change/execute`, { body });
}

const totals = async (world: Hierarchy, subscription_id: string) =>
  (await world.invoices({ subscription_id, billing_reason: 'SUBSCRIPTION_CYCLE' })).map((one) =>
    one.replace('SUBSCRIPTION_CYCLE FINALIZED ', ''),
  );

describe('the commitment of a subscription whose plan is changed (11.2)', () => {
  test('keeps its window and what was used of it, where it lasts longer than the periods', async ({
    api,
    bill,
    world,
  }) => {
    const max = await makeMax(api, world);
    const { id } = await world.subscribe('north', {
      ...COMMITTED,
      commitment_duration: 'QUARTERLY',
    });
    await world.use('north', '2026-01-05T00:00:00Z', 20);
    await bill('2026-01-10T00:00:00Z');
    const first = await change(api, id, { target_plan_id: max });
    expect(await totals(world, id)).toEqual(['2026-01-01 2026-01-10 40.00']);
    await world.use('north', '2026-01-12T00:00:00Z', 5);
    await payOpen(api);
    await bill('2026-01-16T00:00:00Z');
    const second = await change(api, first.body.new_subscription.id, {
      target_plan_id: world.planId,
    });
    const last = second.body.new_subscription.id as string;
    expect(await totals(world, first.body.new_subscription.id)).toEqual([
      '2026-01-10 2026-01-16 15.00',
    ]);
    await world.use('north', '2026-02-20T00:00:00Z', 10);
    await world.use('north', '2026-04-20T00:00:00Z', 60);
    await bill('2026-05-17T00:00:00Z');
    expect(await totals(world, last)).toEqual([
      // 100.00 less the 61.29 of fees in advance that the second change gave back.
      '2026-01-16 2026-02-16 38.71',
      '2026-02-16 2026-03-16 120.00',
      // The window of January to March ends in this period, with 100.00 - 75.00.
      '2026-03-16 2026-04-16 125.00',
      // A new window: 100.00 within it, and 20.00 × 1.5.
      '2026-04-16 2026-05-16 230.00',
    ]);
    for (const subscriptionId of [id, last]) {
      for (const one of await world.find({ subscription_id: subscriptionId })) {
        const verified = await api.call('GET', `/v1/invoices/${one.id}/verify`);
        expect(verified.body).toMatchObject({ same_from_inputs: true, differences: [] });
      }
    }
  });

  test('of the old plan is billed for its own time only', async ({ api, bill, world }) => {
    const max = await makeMax(api, world);
    const { items } = await api.make('/v1/prices/search', { plan_ids: [world.planId] });
    const usage = items.find((one: Answer) => one.meter_id === world.meterId);
    const own = await world.subscribe('north', COMMITTED);
    const ofLine = await world.subscribe('south', {
      line_item_commitments: {
        [usage.id]: {
          commitment_type: 'amount',
          commitment_amount: '100',
          commitment_overage_factor: '1.5',
          commitment_true_up_enabled: true,
        },
      },
    });
    const grouped = await world.subscribe('west', COMMITTED);
    const parent = await world.subscribe('holding', {
      inheritance: { grouped_invoicing_child_ids: [grouped.id] },
    });
    for (const name of ['north', 'south', 'west']) {
      await world.use(name, '2026-01-05T00:00:00Z', 20);
    }
    await bill('2026-01-16T00:00:00Z');
    expect((await change(api, grouped.id, { target_plan_id: max })).status).toBe(200);
    const changed: string[] = [];
    for (const { id } of [own, ofLine]) {
      const { body } = await change(api, id, { target_plan_id: max });
      changed.push(body.new_subscription.id);
      // 20 units, and nothing for what was not used of the commitment.
      expect(await totals(world, id)).toEqual(['2026-01-01 2026-01-16 40.00']);
    }
    // So it is when its invoice is computed again, and when a parent bills it.
    const [final] = await world.find({
      subscription_id: own.id,
      billing_reason: 'SUBSCRIPTION_CYCLE',
    });
    await api.call('POST', `/v1/invoices/${final.id}/void`, { body: {} });
    await api.call('POST', `/v1/invoices/${final.id}/recalculate`, { body: {} });
    for (const name of ['north', 'south']) await world.use(name, '2026-01-20T00:00:00Z', 10);
    await bill('2026-02-01T03:00:00Z');
    expect((await totals(world, own.id)).toSorted()).toEqual([
      '2026-01-01 2026-01-16 40.00',
      '2026-01-01 2026-01-16 SUBSCRIPTION_CYCLE VOIDED 40.00',
    ]);
    // 100.00 and nothing of the parent; 40.00, a true-up of 100.00 and 200.00 of the child.
    expect(await totals(world, parent.id)).toEqual(['2026-01-01 2026-02-01 440.00']);
    await bill('2026-02-16T03:00:00Z');
    // That of the subscription begins anew: 30.00 of usage, 70.00 and 200.00 in advance.
    expect(await totals(world, changed[0] ?? '')).toEqual(['2026-01-16 2026-02-16 300.00']);
    // That of a line of the old plan is not kept.
    expect(await totals(world, changed[1] ?? '')).toEqual(['2026-01-16 2026-02-16 230.00']);
  });

  test('is trued up where its window ends with the old plan', async ({ api, bill, world }) => {
    const max = await makeMax(api, world);
    const monthly = await world.subscribe('north', COMMITTED);
    const quarterly = await world.subscribe('south', {
      ...COMMITTED,
      commitment_duration: 'QUARTERLY',
    });
    for (const name of ['north', 'south']) await world.use(name, '2026-01-05T00:00:00Z', 20);
    const later = { target_plan_id: max, change_at: 'end_of_period' };
    await change(api, monthly.id, later);
    await bill('2026-03-10T00:00:00Z');
    await change(api, quarterly.id, later);
    await bill('2026-04-01T03:00:00Z');
    expect(await totals(world, monthly.id)).toEqual(['2026-01-01 2026-02-01 100.00']);
    expect(await totals(world, quarterly.id)).toEqual([
      '2026-01-01 2026-02-01 140.00',
      '2026-02-01 2026-03-01 100.00',
      '2026-03-01 2026-04-01 60.00',
    ]);
  });

  test('cannot go on where it is no whole number of the new periods', async ({ api, world }) => {
    const max = await makeMax(api, world);
    const { id } = await world.subscribe('north', { ...COMMITTED, commitment_duration: 'MONTHLY' });
    const { status, body } = await change(api, id, {
      target_plan_id: max,
      billing_period: 'ANNUAL',
    });
    expect([status, body.details]).toEqual([
      400,
      { billing_period: expect.stringMatching(/for MONTHLY; choose periods that divide it/) },
    ]);
  });
});
