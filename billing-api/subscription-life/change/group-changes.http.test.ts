import { describe, expect } from 'vitest';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import { test, type Hierarchy } from '../../testing/hierarchy-test.js';
import { expectRefused, type Answer } from '../../testing/money-test.js';
import { payOpen } from '../../testing/pay-open.js';

/** A plan of 200.00 in advance and 3.00 for each unit, beside that of 100.00 and 2.00. */
async function makeMax(api: BillingUnderTest, { meterId }: Hierarchy): Promise<string> {
  const plan = await api.make('/v1/plans', { name: 'Max' });
  const ofPlan = { entity_id: plan.id, currency: 'usd' };
  await api.make('/v1/prices', { ...ofPlan, amount: '200', invoice_cadence: 'ADVANCE' });
  await api.make('/v1/prices', { ...ofPlan, amount: '3', meter_id: meterId });
  return plan.id;
}

/** A child whose parent bills it, with 20 units of 6 January. */
async function makeGroup(api: BillingUnderTest, world: Hierarchy) {
  const child = await world.subscribe('north');
  const parent = await world.subscribe('holding', {
    inheritance: { grouped_invoicing_child_ids: [child.id] },
  });
  await world.use('north', '2026-01-06T00:00:00Z', 20);
  await payOpen(api);
  return { child, parent };
}

const changeTo = (planId: string, members: object = {}) => ({
  target_plan_id: planId,
  billing_cadence: 'RECURRING',
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  proration_behavior: 'create_prorations',
  ...members,
});

const change = async (api: BillingUnderTest, id: string, body: object): Promise<Answer> =>
  api.call('POST', `/v1/subscriptions/${id}/change/execute`, { body });

/** Subscription, period and amount of each line of the one invoice that a search finds last. */
async function lastLines(api: BillingUnderTest, world: Hierarchy, query: object) {
  const found = (await world.find(query)).at(-1);
  const { body } = await api.call('GET', `/v1/invoices/${found.id}`);
  const lines: readonly string[] = body.line_items.map((one: Answer) =>
    [
      one.subscription_id,
      one.period_start.slice(0, 10),
      one.period_end.slice(0, 10),
      one.amount,
    ].join(' '),
  );
  return lines.toSorted();
}

const CYCLE = { billing_reason: 'SUBSCRIPTION_CYCLE' };

describe('a change of plan in a group (25.8)', () => {
  test('of a child keeps its periods, and both plans are on the invoice of the group', async ({
    api,
    bill,
    world,
  }) => {
    const max = await makeMax(api, world);
    const { child, parent } = await makeGroup(api, world);
    await bill('2026-01-16T00:00:00Z');
    const path = `/v1/subscriptions/${child.id}/change/preview`;
    const shown = await api.call('POST', path, { body: changeTo(max) });
    expect(shown.body.proration_details).toMatchObject({
      credit_amount: '51.61',
      charge_amount: '103.23',
      net_amount: '51.62',
    });
    const token = { preview_token: shown.body.preview_token };
    const { body } = await change(api, child.id, changeTo(max, token));
    const after = body.new_subscription.id as string;
    expect(body.invoice).toMatchObject({
      subscription_id: after,
      customer_id: world.customers['holding']?.id,
      total: '51.62',
    });
    expect(await world.read(after)).toMatchObject({
      subscription_type: 'grouped_invoicing',
      parent_subscription_id: parent.id,
      subscription_status: 'active',
      current_period_end: '2026-02-01T00:00:00.000Z',
      invoicing_customer_id: world.customers['holding']?.id,
      plan_id: max,
    });
    await world.use('north', '2026-01-20T00:00:00Z', 10);
    await bill('2026-02-01T03:00:00Z');
    expect(await lastLines(api, world, CYCLE)).toEqual(
      [
        `${parent.id} 2026-01-01 2026-02-01 0.00`,
        `${parent.id} 2026-02-01 2026-03-01 100.00`,
        `${child.id} 2026-01-01 2026-01-16 40.00`,
        `${after} 2026-01-16 2026-02-01 30.00`,
        `${after} 2026-02-01 2026-03-01 200.00`,
      ].toSorted(),
    );
    await bill('2026-03-01T03:00:00Z');
    expect(await world.invoices(CYCLE)).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 370.00',
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE FINALIZED 300.00',
    ]);
  });

  test('remembers the day of the group in short months', async ({ api, bill, world }) => {
    const max = await makeMax(api, world);
    const start = { start_date: '2026-01-31T00:00:00Z' };
    const child = await world.subscribe('north', start);
    await world.subscribe('holding', {
      ...start,
      inheritance: { grouped_invoicing_child_ids: [child.id] },
    });
    await bill('2026-03-10T00:00:00Z');
    const { body } = await change(api, child.id, changeTo(max));
    await bill('2026-05-02T00:00:00Z');
    expect(await world.read(body.new_subscription.id)).toMatchObject({
      current_period_start: '2026-04-30T00:00:00.000Z',
      current_period_end: '2026-05-31T00:00:00.000Z',
    });
  });

  test('of a child at the end of its period is made before the group is renewed', async ({
    api,
    bill,
    world,
  }) => {
    const max = await makeMax(api, world);
    const { child, parent } = await makeGroup(api, world);
    await bill('2026-01-16T00:00:00Z');
    const noted = await change(api, child.id, changeTo(max, { change_at: 'end_of_period' }));
    expect(noted.body).toMatchObject({
      is_scheduled: true,
      scheduled_at: '2026-02-01T00:00:00.000Z',
    });
    await bill('2026-02-01T03:00:00Z');
    expect(await lastLines(api, world, CYCLE)).toEqual(
      [
        `${parent.id} 2026-01-01 2026-02-01 0.00`,
        `${parent.id} 2026-02-01 2026-03-01 100.00`,
        `${child.id} 2026-01-01 2026-02-01 40.00`,
      ].toSorted(),
    );
    const [after] = (await api.make('/v1/subscriptions/search', { plan_id: max })).items;
    expect(after).toMatchObject({
      subscription_type: 'grouped_invoicing',
      parent_subscription_id: parent.id,
      start_date: '2026-02-01T00:00:00.000Z',
      subscription_status: 'active',
    });
    expect(await world.invoices({ billing_reason: 'SUBSCRIPTION_UPDATE' })).toEqual([
      '2026-02-01 2026-03-01 SUBSCRIPTION_UPDATE FINALIZED 200.00',
    ]);
    await bill('2026-03-01T03:00:00Z');
    expect((await world.invoices(CYCLE)).at(-1)).toBe(
      '2026-02-01 2026-03-01 SUBSCRIPTION_CYCLE FINALIZED 300.00',
    );
  });

  test('of a parent takes its children along, now and at the end of the period', async ({
    api,
    bill,
    world,
  }) => {
    const max = await makeMax(api, world);
    const { child, parent } = await makeGroup(api, world);
    await world.use('holding', '2026-01-07T00:00:00Z', 1);
    await bill('2026-01-16T00:00:00Z');
    const { body } = await change(api, parent.id, changeTo(max));
    const after = body.new_subscription.id as string;
    expect(await world.read(after)).toMatchObject({ subscription_type: 'parent' });
    expect(await world.read(child.id)).toMatchObject({
      subscription_type: 'grouped_invoicing',
      parent_subscription_id: after,
    });
    // What the parent used until then is billed at once, and its children go on.
    expect(await lastLines(api, world, { subscription_id: parent.id, ...CYCLE })).toEqual([
      `${parent.id} 2026-01-01 2026-01-16 2.00`,
    ]);
    await bill('2026-01-20T00:00:00Z');
    await change(api, after, changeTo(world.planId, { change_at: 'end_of_period' }));
    await bill('2026-02-01T03:00:00Z');
    expect(await lastLines(api, world, { subscription_id: after, ...CYCLE })).toEqual(
      [
        `${after} 2026-01-16 2026-02-01 0.00`,
        `${child.id} 2026-01-01 2026-02-01 40.00`,
        `${child.id} 2026-02-01 2026-03-01 100.00`,
      ].toSorted(),
    );
    const last = (await world.read(child.id)).parent_subscription_id;
    expect([last === after, last === parent.id]).toEqual([false, false]);
    await world.use('north', '2026-02-06T00:00:00Z', 5);
    await bill('2026-03-01T03:00:00Z');
    expect(await lastLines(api, world, { subscription_id: last, ...CYCLE })).toEqual(
      [
        `${last} 2026-02-01 2026-03-01 0.00`,
        `${last} 2026-03-01 2026-04-01 100.00`,
        `${child.id} 2026-02-01 2026-03-01 10.00`,
        `${child.id} 2026-03-01 2026-04-01 100.00`,
      ].toSorted(),
    );
    expect(await world.invoices({ customer_id: world.customers['north']?.id })).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
    ]);
  });

  test('is refused where it would part the periods of the group', async ({ api, bill, world }) => {
    const max = await makeMax(api, world);
    const start = { start_date: '2026-01-10T00:00:00Z' };
    const child = await world.subscribe('north', start);
    const waiting = await world.subscribe('south', {
      ...start,
      payment_behavior: 'allow_incomplete',
    });
    await api.call('PUT', `/v1/invoices/${waiting.latest_invoice.id}/payment`, {
      body: { payment_status: 'SUCCEEDED' },
    });
    await world.subscribe('holding', {
      ...start,
      inheritance: { grouped_invoicing_child_ids: [child.id, waiting.id] },
    });
    await bill('2026-01-16T00:00:00Z');
    await expectRefused(
      (body) => change(api, child.id, body),
      [
        [changeTo(max, { billing_period: 'ANNUAL' }), /MONTHLY × 1.*of the group/],
        [changeTo(max, { billing_cycle: 'calendar' }), /do not end on the same dates/],
      ],
    );
    await expectRefused(
      (body) => change(api, waiting.id, body),
      [[changeTo(max), /not paid at once.*take it out of the group first/]],
    );
  });
});
