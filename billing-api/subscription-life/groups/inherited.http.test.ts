import { describe, expect } from 'vitest';
import { test, type Hierarchy } from '../../testing/hierarchy-test.js';
import { expectRefused, type Answer } from '../../testing/money-test.js';

const HEIRS = { external_customer_ids_to_inherit_subscription: ['north', 'south'] };

async function childrenOf(api: { make: Hierarchy['subscribe'] }, id: string) {
  const query = { parent_subscription_ids: [id], subscription_type: ['inherited'] };
  const { items } = await api.make('/v1/subscriptions/search', query);
  return items.sort((a: Answer, b: Answer) => a.id.localeCompare(b.id));
}

const stateOf = (row: Answer) => [
  row.subscription_status,
  row.current_period_start.slice(0, 10),
  row.current_period_end.slice(0, 10),
];

describe('inherited subscriptions (29.1)', () => {
  test('mirror plan, period and status, and the parent bills the usage of all', async ({
    api,
    bill,
    world,
  }) => {
    const parent = await world.subscribe('holding', { inheritance: HEIRS });
    expect([parent.subscription_type, parent.line_items.length]).toEqual(['parent', 2]);
    const children = await childrenOf(api, parent.id);
    expect(children).toHaveLength(2);
    const child = await world.read(children[0].id);
    expect(child).toMatchObject({
      subscription_type: 'inherited',
      parent_subscription_id: parent.id,
      plan_id: world.planId,
      line_items: [],
      latest_invoice: null,
      invoicing_customer_id: null,
    });
    expect(stateOf(child)).toEqual(['active', '2026-01-01', '2026-02-01']);
    await world.use('holding', '2026-01-05T00:00:00Z', 1);
    await world.use('north', '2026-01-06T00:00:30Z', 20);
    await world.use('south', '2026-01-07T00:00:00Z', 300);
    await world.use('west', '2026-01-08T00:00:00Z', 4000);
    await bill('2026-01-20T00:00:00Z');
    const preview = await api.make('/v1/invoices/preview', { subscription_id: parent.id });
    expect(preview.total).toBe('742.00');
    const range = { start_time: '2026-01-01T00:00:00Z', end_time: '2026-02-01T00:00:00Z' };
    for (const [include_children, cost] of [
      [false, '2.00'],
      [true, '642.00'],
    ] as const) {
      const asked = { external_customer_id: 'holding', include_children, ...range };
      expect((await api.make('/v1/events/analytics', asked)).total_cost).toBe(cost);
    }
    await bill('2026-02-01T03:00:00Z');
    expect(await world.invoices({})).toEqual([
      '2026-01-01 2026-02-01 SUBSCRIPTION_CREATE FINALIZED 100.00',
      '2026-01-01 2026-02-01 SUBSCRIPTION_CYCLE FINALIZED 742.00',
    ]);
    expect(stateOf(await world.read(child.id))).toEqual(['active', '2026-02-01', '2026-03-01']);
    const [invoice] = await world.find({ billing_reason: 'SUBSCRIPTION_CYCLE' });
    const path = `/v1/invoices/${invoice.id}`;
    const { body } = await api.call('GET', path);
    const usage = body.line_items.find((one: Answer) => one.price_type === 'USAGE');
    expect([usage.quantity, usage.amount]).toEqual(['321', '642.00']);
    const explained = await api.call('GET', `${path}/line_items/${usage.id}/explain`);
    const ids = ['holding', 'north', 'south'].map((name) => world.customers[name].id);
    expect([...explained.body.customers].sort()).toEqual(ids.sort());
    const events = await api.call('GET', `${path}/line_items/${usage.id}/events`);
    expect(events.body.items.map((one: Answer) => one.external_customer_id)).toEqual([
      'holding',
      'north',
      'south',
    ]);
    const verified = await api.call('GET', `${path}/verify`);
    expect(verified.body).toMatchObject({ same_from_inputs: true, same_from_events: true });
  });

  test('count from the instant at which they join to that at which they leave', async ({
    api,
    bill,
    world,
  }) => {
    const parent = await world.subscribe('holding');
    await bill('2026-01-10T12:00:30.500Z');
    const child = await world.subscribe('north', {
      start_date: undefined,
      inheritance: { parent_subscription_id: parent.id },
      lookup_key: 'north one',
      metadata: { seat: 'a' },
    });
    expect(child).toMatchObject({
      subscription_type: 'inherited',
      start_date: '2026-01-10T12:00:30.500Z',
      lookup_key: 'north one',
      metadata: { seat: 'a' },
      line_items: [],
    });
    expect((await world.read(parent.id)).subscription_type).toBe('parent');
    // Before it joins, in the minute in which it does, and after it has left.
    await world.use('north', '2026-01-10T12:00:30.499Z', 1);
    await world.use('north', '2026-01-10T12:00:30.500Z', 10);
    await world.use('north', '2026-01-15T00:00:00Z', 100);
    await world.use('north', '2026-01-20T00:00:10Z', 1000);
    await bill('2026-01-20T00:00:10Z');
    const body = { type: 'inheritance', inheritance_params: { remove: [child.id] } };
    const path = `/v1/subscriptions/${parent.id}/modify`;
    const shown = await api.call('POST', `${path}/preview`, { body });
    expect((await world.read(child.id)).subscription_status).toBe('active');
    const { body: modified } = await api.call('POST', `${path}/execute`, { body });
    expect(modified.changed_resources.subscriptions).toMatchObject([
      { id: child.id, action: 'cancelled', status: 'cancelled' },
      { id: parent.id, action: 'updated', status: 'active' },
    ]);
    expect(shown.body.changed_resources).toEqual(modified.changed_resources);
    expect(await world.read(child.id)).toMatchObject({
      subscription_status: 'cancelled',
      end_date: '2026-01-20T00:00:10.000Z',
    });
    expect((await world.read(parent.id)).subscription_type).toBe('standalone');
    // It comes back, and has its own subscription in no time between.
    await bill('2026-01-25T00:00:00Z');
    const back = { type: 'inheritance', inheritance_params: { add: ['north'] } };
    const { body: added } = await api.call('POST', `${path}/execute`, { body: back });
    expect(added.changed_resources.subscriptions[0]).toMatchObject({
      action: 'created',
      status: 'active',
    });
    await world.use('north', '2026-01-24T23:59:59.999Z', 10_000);
    await world.use('north', '2026-01-25T00:00:00Z', 1);
    await bill('2026-02-01T03:00:00Z');
    const [, cycle] = await world.find({});
    expect(cycle.total).toBe('322.00');
    const { body: invoice } = await api.call('GET', `/v1/invoices/${cycle.id}`);
    const usage = invoice.line_items.find((one: Answer) => one.price_type === 'USAGE');
    const events = await api.call('GET', `/v1/invoices/${cycle.id}/line_items/${usage.id}/events`);
    expect(events.body.items.map((one: Answer) => one.value)).toEqual(['10', '100', '1']);
    const verified = await api.call('GET', `/v1/invoices/${cycle.id}/verify`);
    expect(verified.body).toMatchObject({ same_from_inputs: true, same_from_events: true });
  });

  test('pause, are resumed, and are cancelled with their parent, each with its event', async ({
    api,
    bill,
    world,
  }) => {
    const parent = await world.subscribe('holding', { inheritance: HEIRS });
    const [one, two] = await childrenOf(api, parent.id);
    const states = async () => [
      stateOf(await world.read(parent.id)),
      stateOf(await world.read(one.id)),
      stateOf(await world.read(two.id)),
    ];
    await bill('2026-01-05T00:00:00Z');
    const path = `/v1/subscriptions/${parent.id}`;
    await api.call('POST', `${path}/pause`, { body: { pause_mode: 'immediate', pause_days: 10 } });
    expect(new Set((await states()).map(String))).toEqual(
      new Set(['paused,2026-01-01,2026-02-01']),
    );
    expect((await world.read(one.id)).pause_status).toBe('active');
    await bill('2026-01-15T00:00:00Z');
    expect(new Set((await states()).map(String))).toEqual(
      new Set(['active,2026-01-01,2026-02-11']),
    );
    const deferred = { cancellation_type: 'end_of_period' };
    await api.call('POST', `${path}/cancel`, { body: deferred });
    expect((await world.read(two.id)).cancel_at).toBe('2026-02-11T00:00:00.000Z');
    const { items } = (await api.call('GET', `${path}/schedules`)).body;
    await api.call('POST', `/v1/subscriptions/schedules/${items[0].id}/cancel`, { body: {} });
    expect((await world.read(two.id)).cancel_at).toBe(null);
    await api.call('POST', `${path}/cancel`, { body: deferred });
    await bill('2026-02-11T02:00:00Z');
    expect(new Set((await states()).map(String))).toEqual(
      new Set(['cancelled,2026-01-01,2026-02-11']),
    );
    for (const name of ['subscription.paused', 'subscription.resumed', 'subscription.cancelled']) {
      const told = await api.call('GET', `/v1/webhooks/events?event_type=${name}`);
      const ids = told.body.items.map((event: Answer) => event.entity_id).sort();
      expect([name, ids]).toEqual([name, [parent.id, one.id, two.id].sort()]);
    }
    // They are free to have subscriptions of their own again.
    await world.subscribe('north', { start_date: '2026-02-11T02:00:00Z' });
  });

  test('have the trial of their parent, wherever it is moved', async ({ api, bill, world }) => {
    const parent = await world.subscribe('holding', { trial_period_days: 14, inheritance: HEIRS });
    const [child] = await childrenOf(api, parent.id);
    expect(stateOf(child)).toEqual(['trialing', '2026-01-01', '2026-01-15']);
    await bill('2026-01-02T00:00:00Z');
    await api.call('POST', `/v1/subscriptions/${parent.id}/modify/execute`, {
      body: {
        type: 'trial_end',
        trial_end_params: { action: 'scheduled_date', new_trial_end: '2026-01-10T00:00:00Z' },
      },
    });
    expect(stateOf(await world.read(child.id))).toEqual(['trialing', '2026-01-01', '2026-01-10']);
    await bill('2026-01-10T00:00:00Z');
    expect(stateOf(await world.read(child.id))).toEqual(['active', '2026-01-10', '2026-02-10']);
    expect(await world.invoices({ customer_id: world.customers['north'].id })).toEqual([]);
  });

  test('follow a change of plan: the old ones end, and new ones inherit', async ({
    api,
    bill,
    world,
  }) => {
    const target = await api.make('/v1/plans', { name: 'Metered' });
    await api.make('/v1/prices', {
      entity_id: target.id,
      currency: 'usd',
      amount: '3',
      meter_id: world.meterId,
    });
    const parent = await world.subscribe('holding', { inheritance: HEIRS });
    await world.use('north', '2026-01-10T00:00:00Z', 5);
    await bill('2026-01-16T00:00:00Z');
    const { body } = await api.call('POST', `/v1/subscriptions/${parent.id}/change/execute`, {
      body: {
        target_plan_id: target.id,
        billing_cadence: 'RECURRING',
        billing_cycle: 'anniversary',
        billing_period: 'MONTHLY',
        billing_period_count: 1,
        proration_behavior: 'none',
      },
    });
    const after = await world.read(body.new_subscription.id);
    expect(after.subscription_type).toBe('parent');
    const children = await childrenOf(api, after.id);
    expect(children.map((one: Answer) => [one.plan_id, ...stateOf(one)])).toEqual([
      [target.id, 'active', '2026-01-16', '2026-02-16'],
      [target.id, 'active', '2026-01-16', '2026-02-16'],
    ]);
    const old = await api.make('/v1/subscriptions/search', {
      parent_subscription_ids: [parent.id],
      status: 'archived',
    });
    expect(old.items.map((one: Answer) => one.subscription_status)).toEqual([
      'cancelled',
      'cancelled',
    ]);
    await world.use('north', '2026-01-20T00:00:00Z', 7);
    await bill('2026-02-16T03:00:00Z');
    expect(await world.invoices({ billing_reason: 'SUBSCRIPTION_CYCLE' })).toEqual([
      '2026-01-01 2026-01-16 SUBSCRIPTION_CYCLE FINALIZED 10.00',
      '2026-01-16 2026-02-16 SUBSCRIPTION_CYCLE FINALIZED 21.00',
    ]);
  });

  test('have the entitlements of the parent, whose usage all share', async ({
    api,
    bill,
    world,
  }) => {
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: world.meterId,
    });
    await api.make('/v1/entitlements', {
      entity_type: 'PLAN',
      entity_id: world.planId,
      feature_id: feature.id,
      feature_type: 'metered',
      usage_limit: 100,
      usage_reset_period: 'MONTHLY',
    });
    const parent = await world.subscribe('holding', { inheritance: HEIRS });
    const [child] = await childrenOf(api, parent.id);
    await world.use('holding', '2026-01-05T00:00:00Z', 30);
    await world.use('north', '2026-01-06T00:00:00Z', 40);
    await world.use('south', '2026-01-06T00:00:00Z', 50);
    await bill('2026-01-10T00:00:00Z');
    const path = `/v1/subscriptions/${child.id}/entitlements`;
    const { body } = await api.call('GET', path);
    expect(body.features.map((one: Answer) => one.feature.id)).toEqual([feature.id]);
    for (const name of ['holding', 'north', 'south']) {
      const own = `/v1/customers/usage?customer_id=${world.customers[name].id}`;
      const usage = (await api.call('GET', own)).body;
      expect(usage.features.map((one: Answer) => [one.current_usage, one.total_limit])).toEqual([
        ['120', '100'],
      ]);
    }
    // 20 beyond the allowance, once for all of them.
    const preview = await api.make('/v1/invoices/preview', { subscription_id: parent.id });
    expect(preview.total).toBe('140.00');
  });

  test('refuse what is their parent’s, and parents what would bill usage twice', async ({
    api,
    bill,
    world,
  }) => {
    const parent = await world.subscribe('holding', { inheritance: HEIRS });
    const [child] = await childrenOf(api, parent.id);
    const path = `/v1/subscriptions/${child.id}`;
    const post = (what: string, body: object) => api.call('POST', `${path}/${what}`, { body });
    const change = {
      target_plan_id: world.planId,
      billing_cadence: 'RECURRING',
      billing_cycle: 'calendar',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      proration_behavior: 'none',
    };
    const trial = { type: 'trial_end', trial_end_params: { action: 'immediate' } };
    for (const [what, body] of [
      ['cancel', {}],
      ['pause', { pause_mode: 'immediate' }],
      ['resume', {}],
      ['change/execute', change],
      ['lineitems', { price: { amount: '5', currency: 'usd' } }],
      ['modify/execute', trial],
    ] as const) {
      const answer = await post(what, body);
      expect([what, answer.status, answer.body.code]).toEqual([what, 400, 'invalid_operation']);
      expect(answer.body.message).toMatch(/inherited/);
    }
    const preview = await api.call('POST', '/v1/invoices/preview', {
      body: { subscription_id: child.id },
    });
    expect([preview.status, preview.body.message]).toEqual([
      400,
      expect.stringMatching(/an inherited subscription has no invoices; send this to its parent/),
    ]);
    const subscribe = (body: object) => api.call('POST', '/v1/subscriptions', { body });
    const joins = { inheritance: { parent_subscription_id: parent.id } };
    const now = { start_date: undefined };
    await expectRefused(subscribe, [
      [world.bodyOf('north'), /has the inherited subscription/],
      [world.bodyOf('north', { ...now, ...joins }), /would bill its usage as well/],
      [world.bodyOf('holding', { ...now, ...joins }), /has the parent subscription itself/],
      [world.bodyOf('west', joins), /start_date: must be left out/],
      [world.bodyOf('west', { ...now, ...joins, currency: 'eur' }), /currency: must be usd/],
      [
        world.bodyOf('west', { ...now, inheritance: { parent_subscription_id: child.id } }),
        /only a standalone or parent one has children/,
      ],
      [
        world.bodyOf('west', { inheritance: { ...HEIRS, ...joins.inheritance } }),
        /parent_subscription_id: cannot be combined/,
      ],
      [
        world.bodyOf('west', { inheritance: HEIRS, subscription_status: 'draft' }),
        /subscription_status: must be left out/,
      ],
    ]);
    const unknown = { inheritance: { parent_subscription_id: 'subs_none' } };
    expect((await subscribe(world.bodyOf('west', { ...now, ...unknown }))).status).toBe(404);
    await world.subscribe('west');
    const add = { type: 'inheritance', inheritance_params: { add: ['west'] } };
    await bill('2026-01-02T00:00:00Z');
    const answer = await api.call('POST', `/v1/subscriptions/${parent.id}/modify/execute`, {
      body: add,
    });
    expect([answer.status, answer.body.message]).toEqual([
      400,
      expect.stringMatching(/would bill its usage as well; cancel it first/),
    ]);
  });
});
