import { describe, expect } from 'vitest';
import { test as billedTest } from '../../testing/billed-test.js';
import { expectBalancedBooks } from '../../testing/check-books.js';
import type { Answer } from '../../testing/money-test.js';

type World = {
  /** A subscription from 1 Jan 2026 to 31.00 in arrear and 62.00 in advance, with phases. */
  readonly subscribe: (phases: readonly object[], members?: object) => Promise<Answer>;
  readonly arrear: string;
  readonly advance: string;
  readonly read: (id: string) => Promise<Answer>;
  /** Period, reason and total of each invoice. */
  readonly invoices: (id: string) => Promise<readonly string[]>;
  /** The system events of phases, with the phase's start. */
  readonly told: () => Promise<readonly string[]>;
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill }, use) => {
    await bill('2026-01-01T00:00:00Z');
    await api.make('/v1/customers', { external_id: 'acme' });
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const price = async (amount: string, cadence: string): Promise<string> => {
      const of = { entity_id: plan.id, currency: 'usd', amount, invoice_cadence: cadence };
      return (await api.make('/v1/prices', of)).id as string;
    };
    const arrear = await price('31', 'ARREAR');
    const advance = await price('62', 'ADVANCE');
    await use({
      arrear,
      advance,
      subscribe: async (phases, members = {}) => {
        const body = {
          external_customer_id: 'acme',
          plan_id: plan.id,
          currency: 'usd',
          phases,
          billing_period: 'MONTHLY',
          ...members,
        };
        return (await api.call('POST', '/v1/subscriptions', { body })).body;
      },
      read: async (id) => (await api.call('GET', `/v1/subscriptions/${id}`)).body,
      invoices: async (id) => {
        const { items } = await api.make('/v1/invoices/search', { subscription_id: id });
        return items
          .sort((a: Answer, b: Answer) => a.billing_sequence - b.billing_sequence)
          .map((one: Answer) => `${one.period_start.slice(0, 10)} ${one.total}`);
      },
      told: async () => {
        const { items } = (await api.call('GET', '/v1/webhooks/events?limit=1000')).body;
        return items
          .filter((one: Answer) => one.event_name.startsWith('subscription.phase.'))
          .sort((a: Answer, b: Answer) => a.sequence - b.sequence)
          .map(({ event_name: name, created_at: at, payload }: Answer) =>
            [name.slice(19), at.slice(0, 10), payload.phase.start_date.slice(0, 10)].join(' '),
          );
      },
    });
    await expectBalancedBooks(api);
  },
});

const phase = (start: string, members: object = {}) => ({
  start_date: `${start}T00:00:00Z`,
  ...members,
});

describe('phases of a subscription (28)', () => {
  test('have lines of their own, which are charged for their time to the cent', async ({
    bill,
    world,
  }) => {
    const made = await world.subscribe([
      phase('2026-01-01', { metadata: { step: '1' } }),
      phase('2026-01-16', {
        override_line_items: [
          { price_id: world.arrear, amount: '62' },
          { price_id: world.advance, amount: '124', quantity: '2' },
        ],
      }),
    ]);
    expect(made.phases).toMatchObject([
      { end_date: '2026-01-16T00:00:00.000Z', metadata: { step: '1' } },
      { start_date: '2026-01-16T00:00:00.000Z', end_date: null },
    ]);
    const [first, second] = made.phases;
    expect(
      made.line_items.map((one: Answer) => [
        one.subscription_phase_id,
        one.price.amount,
        one.predecessor_id,
      ]),
    ).toEqual([
      [first.id, '31', null] as const,
      [first.id, '62', null] as const,
      [second.id, '62', made.line_items[0].id],
      [second.id, '124', made.line_items[1].id],
    ]);
    await bill('2026-02-01T02:00:00Z');
    expect(await world.invoices(made.id)).toEqual([
      // 62.00 × 15 ÷ 31, and 248.00 × 16 ÷ 31.
      '2026-01-01 158.00',
      // 31.00 × 15 ÷ 31, 62.00 × 16 ÷ 31, and 248.00 for February.
      '2026-01-01 295.00',
    ]);
    expect(await world.told()).toEqual([
      'created 2026-01-01 2026-01-01',
      'created 2026-01-01 2026-01-16',
      'updated 2026-02-01 2026-01-16',
    ]);
  });

  test('begin where their time comes, end with the subscription, and have coupons', async ({
    api,
    bill,
    world,
  }) => {
    const half = { type: 'percentage', percentage_off: '50', cadence: 'forever' };
    await api.make('/v1/coupons', { name: 'Half', coupon_code: 'HALF', ...half });
    await api.make('/v1/coupons', { name: 'Line', coupon_code: 'LINE', ...half });
    const made = await world.subscribe([
      phase('2026-01-01', { coupons: ['HALF'] }),
      phase('2026-02-01', { line_item_coupons: { [world.arrear]: ['LINE'] } }),
      phase('2026-03-01', { end_date: '2026-04-01T00:00:00Z' }),
    ]);
    expect(made.end_date).toBe('2026-04-01T00:00:00.000Z');
    expect(
      made.coupon_associations.map((one: Answer) => [one.subscription_phase_id, one.end_date]),
    ).toEqual([
      [made.phases[0].id, '2026-02-01T00:00:00.000Z'],
      [made.phases[1].id, '2026-03-01T00:00:00.000Z'],
    ]);
    await bill('2026-02-01T00:00:00Z');
    await bill('2026-02-10T00:00:00Z');
    expect((await world.told()).slice(3)).toEqual(['updated 2026-02-01 2026-02-01']);
    const cancelled = await api.call('POST', `/v1/subscriptions/${made.id}/cancel`, {
      body: { cancellation_type: 'immediate' },
    });
    expect(cancelled.status).toBe(200);
    expect((await world.told()).slice(4)).toEqual([
      'updated 2026-02-10 2026-02-01',
      'deleted 2026-02-10 2026-03-01',
    ]);
    const { phases } = await world.read(made.id);
    expect(phases.map((one: Answer) => one.end_date.slice(0, 10))).toEqual([
      '2026-02-01',
      '2026-02-10',
    ]);
    // Half of 62.00; half of 31.00 and 62.00; 31.00 × 9 ÷ 28 without its half.
    expect(await world.invoices(made.id)).toEqual([
      '2026-01-01 31.00',
      '2026-01-01 46.50',
      '2026-02-01 4.98',
    ]);
  });

  test('change their metadata alone, which is told and charges nothing', async ({ api, world }) => {
    const made = await world.subscribe([phase('2026-01-01'), phase('2026-01-16')]);
    const { phases, line_items: lines } = await world.read(made.id);
    const before = [lines, await world.invoices(made.id)];
    const path = `/v1/subscriptions/phases/${phases[1].id}`;
    const put = (body: object, headers = {}) => api.call('PUT', path, { body, headers });
    const changed = await put({ metadata: { campaign: 'launch' } }, { 'If-Match': '"1"' });
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        ...phases[1],
        metadata: { campaign: 'launch' },
        updated_at: expect.any(String),
        updated_by: expect.any(String),
      },
    ]);
    const stale = await put({ metadata: {} }, { 'If-Match': '"1"' });
    expect(stale.status).toBe(409);
    expect((await put({ metadata: null })).body.metadata).toEqual({});
    expect((await put({ start_date: '2026-01-10T00:00:00Z', metadata: {} })).status).toBe(400);
    expect((await world.told()).filter((one) => one.startsWith('updated'))).toHaveLength(2);
    expect([(await world.read(made.id)).line_items, await world.invoices(made.id)]).toEqual(before);
  });

  test('do not go with a plan change, and are refused with the member and the remedy', async ({
    api,
    world,
  }) => {
    const refusals = [
      [[phase('2026-01-01'), phase('2026-02-01', { end_date: '2026-03-01T00:00:00Z' })], {}, null],
      [[phase('2026-01-02')], { start_date: '2026-01-01T00:00:00Z' }, 'phases.0.start_date'],
      [
        [phase('2026-01-01', { end_date: '2026-01-10T00:00:00Z' }), phase('2026-01-11')],
        ...([{}, 'phases.1.start_date'] as const),
      ],
      [[phase('2026-02-01'), phase('2026-01-01')], {}, 'phases.0.end_date'],
      [
        [phase('2026-01-01', { end_date: '2026-02-01T00:00:00Z' })],
        ...([{ end_date: '2026-03-01T00:00:00Z' }, 'phases.0.end_date'] as const),
      ],
      [[phase('2026-01-01')], { subscription_status: 'draft' }, 'phases'],
      [[phase('2026-01-01')], { override_line_items: [] }, 'override_line_items'],
      [
        [phase('2026-01-01', { override_line_items: [{ price_id: 'x' }] })],
        ...([{}, 'phases.0.override_line_items.0.price_id'] as const),
      ],
      [
        [phase('2026-01-01', { line_item_coupons: { x: ['NONE'] } })],
        ...([{}, 'phases.0.line_item_coupons.x'] as const),
      ],
    ] as const;
    for (const [phases, members, member] of refusals) {
      const body = await world.subscribe(phases, members);
      if (member === null) expect(body.phases).toHaveLength(2);
      else expect([member, Object.keys(body.details)]).toEqual([member, [member]]);
    }
    const { id } = await world.subscribe([phase('2026-01-01')]);
    const target = await api.make('/v1/plans', { name: 'Other' });
    const change = await api.call('POST', `/v1/subscriptions/${id}/change/preview`, {
      body: {
        target_plan_id: target.id,
        billing_cadence: 'RECURRING',
        billing_period_count: 1,
        billing_cycle: 'anniversary',
        billing_period: 'MONTHLY',
        proration_behavior: 'none',
      },
    });
    expect([change.status, change.body.message]).toEqual([
      400,
      expect.stringContaining('has phases'),
    ]);
  });
});
