import { setTimeout } from 'node:timers/promises';
import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { createId } from '../../runtime/ids.js';
import { billingNeeds } from '../testing/bill-environment.js';
import { test as billedTest } from '../testing/billed-test.js';
import type { Occasion } from '../records/occasion.js';
import type { WriteDependencies } from '../records/unit.js';
import { expectBalancedBooks } from '../testing/check-books.js';
import type { Answer } from '../testing/money-test.js';
import { setTestClock } from '../testing/set-test-clock.js';
import { inTurnWhileHeld } from '../testing/while-locked.js';
import { removeAddon } from '../subscription-life/addons/remove-addon.js';
import { changeLine } from '../subscription-life/lines/change-line.js';
import { FINALIZATION, RENEWAL, takeTurn, type TurnResult } from './run-billing.js';

/** Changes of lines, as requests make them before they compute the drafts again. */
type Meanwhile = (needs: WriteDependencies, occasion: Occasion) => Promise<void>;

type World = {
  readonly target: string;
  /** A customer with a subscription of 100.00 in advance and 31.00 in arrear from 1 Jan 2026 on. */
  readonly subscribe: (name: string, members?: object) => Promise<string>;
  readonly post: (path: string, options: object) => Promise<Answer>;
  /** Turns the clock without doing what is due. */
  readonly turn: (instant: string) => Promise<void>;
  /** Renews one subscription, as the billing job does. */
  readonly renew: (id: string) => Promise<void>;
  /** Finalizes what is due, where something comes between the computation and the storing. */
  readonly finalizeBeside: (what: Meanwhile) => Promise<TurnResult>;
  /** What has become of a customer: its subscriptions, invoices and wallets. */
  readonly outcome: (name: string) => Promise<string>;
};

const TARGET = {
  billing_cadence: 'RECURRING',
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  proration_behavior: 'create_prorations',
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, bill, clickhouse, database }, use) => {
    await bill('2026-01-01T00:00:00Z');
    const planOf = async (name: string, ...prices: readonly object[]) => {
      const plan = await api.make('/v1/plans', { name });
      for (const price of prices) {
        await api.make('/v1/prices', { entity_id: plan.id, currency: 'usd', ...price });
      }
      return plan.id as string;
    };
    const own = await planOf(
      'Pro',
      { amount: '100', invoice_cadence: 'ADVANCE' },
      { amount: '31', invoice_cadence: 'ARREAR' },
    );
    const target = await planOf('Max', { amount: '200', invoice_cadence: 'ADVANCE' });
    const { environment } = api;
    const world = { database: database.database, clickHouse: clickhouse.client, environment };
    const needs = { ...billingNeeds(world), createId };
    await use({
      target,
      subscribe: async (name, members = {}) => {
        await api.make('/v1/customers', { external_id: name });
        const made = await api.make('/v1/subscriptions', {
          external_customer_id: name,
          plan_id: own,
          currency: 'usd',
          billing_period: 'MONTHLY',
          start_date: '2026-01-01T00:00:00Z',
          ...members,
        });
        return made.id;
      },
      post: (path, options) => api.call('POST', `/v1/subscriptions${path}`, options),
      turn: async (instant) => {
        await setTestClock(database.database, environment, Date.parse(instant));
      },
      renew: async (id) => {
        const actor = { kind: 'job', job: 'bill-subscription', runId: createId('run') } as const;
        const due = { limit: 1, only: id };
        await takeTurn(needs, { environment, actor }, { ...RENEWAL, due });
      },
      finalizeBeside: (what) => {
        const actor = { kind: 'job', job: 'bill-environment', runId: createId('run') } as const;
        const turn = { ...FINALIZATION, due: { limit: 100, only: null } };
        return takeTurn(
          needs,
          { environment, actor },
          {
            ...turn,
            store: async (unit, computed) => {
              await what(needs, { environment, actor: { kind: 'operator', name: 'test' } });
              return FINALIZATION.store(unit, computed);
            },
          },
        );
      },
      outcome: async (name) => {
        const of = { external_customer_id: name };
        const { items: customers } = await api.make('/v1/customers/search', {
          external_ids: [name],
        });
        const found = await api.make('/v1/subscriptions/search', of);
        const invoices = await api.make('/v1/invoices/search', {
          customer_id: customers[0].id,
        });
        const wallets = await api.make('/v1/wallets/search', of);
        return JSON.stringify([
          found.items
            .map((one: Answer) => [one.plan_id, one.subscription_status, one.current_period_end])
            .sort(),
          invoices.items
            .map((one: Answer) => [
              one.period_start,
              one.period_end,
              one.billing_reason,
              one.invoice_status,
              one.total,
            ])
            .sort(),
          wallets.items.map((one: Answer) => one.credit_balance),
        ]);
      },
    });
    await expectBalancedBooks(api);
  },
});

/** All orders of three. */
const ORDERS = [
  [0, 1, 2] as const,
  [0, 2, 1] as const,
  [1, 0, 2] as const,
  [1, 2, 0] as const,
  [2, 0, 1] as const,
  [2, 1, 0] as const,
];

describe('what comes at once', () => {
  test('a change, a cancellation and a renewal end as one after the other would, in some order', async ({
    bill,
    world,
  }) => {
    const names = ORDERS.map((_, place) => place);
    const subscribe = (prefix: string) =>
      Promise.all(names.map((place) => world.subscribe(`${prefix}${place}`)));
    const serial = await subscribe('serial');
    const racing = await subscribe('racing');
    await bill('2026-01-31T23:59:59.999Z');
    const answers: Answer[] = [];
    const ask = async (path: string, body: object) => {
      answers.push(await world.post(path, { body }));
    };
    const doings = (id: string) => [
      () => ask(`/${id}/change/execute`, { ...TARGET, target_plan_id: world.target }),
      () => ask(`/${id}/cancel`, {}),
      () => world.renew(id),
    ];
    await world.turn('2026-02-01T00:00:00Z');
    for (const [place, order] of ORDERS.entries()) {
      const all = doings(serial[place] ?? '');
      for (const one of order) await all[one]?.();
    }
    await Promise.all(
      ORDERS.map(async (order, place) => {
        const all = doings(racing[place] ?? '');
        await Promise.all(
          order.map(async (one, rank) => {
            await setTimeout(rank * 4);
            await all[one]?.();
          }),
        );
      }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    await bill('2026-02-01T03:00:00Z');
    const outcomes = (prefix: string) =>
      Promise.all(names.map((place) => world.outcome(`${prefix}${place}`)));
    const possible = new Set(await outcomes('serial'));
    expect(possible.size).toBeGreaterThan(1);
    for (const outcome of await outcomes('racing')) expect(possible).toContain(outcome);
  });

  test('requests for a subscription with one lookup_key make one', async ({ api, world }) => {
    await world.subscribe('acme', { lookup_key: 'before' });
    const { items: plans } = await api.make('/v1/plans/search', {});
    const plan = plans.find((one: Answer) => one.name === 'Pro');
    const body = {
      external_customer_id: 'acme',
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      lookup_key: 'main',
    };
    const made = await Promise.all(Array.from({ length: 5 }, () => world.post('', { body })));
    expect(made.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409]);
    const found = await api.make('/v1/subscriptions/search', { external_customer_id: 'acme' });
    expect(found.items).toHaveLength(2);
    expect((await api.make('/v1/invoices/search', {})).items).toHaveLength(2);
  });

  test('requests for a change with one Idempotency-Key make one change', async ({
    api,
    bill,
    world,
  }) => {
    const id = await world.subscribe('acme');
    await bill('2026-01-16T00:00:00Z');
    const change = () =>
      world.post(`/${id}/change/execute`, {
        body: { ...TARGET, target_plan_id: world.target },
        headers: { 'Idempotency-Key': 'upgrade' },
      });
    const first = await Promise.all([change(), change(), change()]);
    const again = await change();
    const done = [...first, again].filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThanOrEqual(2);
    // Whoever came while the first was carried out was told so.
    expect(new Set([...first, again].map(({ status }) => status))).not.toContain(500);
    expect(new Set(done.map(({ body }) => body.new_subscription.id)).size).toBe(1);
    const found = await api.make('/v1/subscriptions/search', { plan_id: world.target });
    expect(found.items).toHaveLength(1);
    const invoices = await api.make('/v1/invoices/search', {});
    expect(invoices.items.map((one: Answer) => one.billing_reason).toSorted()).toEqual([
      'SUBSCRIPTION_CREATE',
      'SUBSCRIPTION_CYCLE',
      'SUBSCRIPTION_UPDATE',
    ]);
  });

  test('credits for unused time beside a note or a void give back no more than was paid', async ({
    api,
    bill,
    database,
    world: _,
  }) => {
    const SECOND = '2026-01-02T00:00:00.000Z';
    const fee = { currency: 'usd', invoice_cadence: 'ADVANCE' };
    const plan = await api.make('/v1/plans', { name: 'Seats' });
    const seats = { entity_id: plan.id, amount: '3', min_quantity: 10, ...fee };
    await api.make('/v1/prices', seats);
    const addon = await api.make('/v1/addons', { name: 'Support', lookup_key: 'support' });
    const ofAddon = { entity_type: 'ADDON', entity_id: addon.id, amount: '5' };
    await api.make('/v1/prices', { ...ofAddon, ...fee });
    const send = (method: 'POST' | 'DELETE' | 'PUT', path: string, body: object) => async () =>
      api.call(method, path, { body });
    const proration_behavior = 'create_prorations';
    const noteOn = (invoice: Answer, amount: string) => ({
      invoice_id: invoice.id,
      line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount }],
    });
    /** A customer with a wallet, and 30.00 for ten seats and 5.00 for an addon paid. */
    const subscribe = async (name: string) => {
      const { id: customerId } = await api.make('/v1/customers', { external_id: name });
      const config = { allowed_price_types: ['ALL'] };
      await api.make('/v1/wallets', { customer_id: customerId, currency: 'usd', config });
      const made = await api.make('/v1/subscriptions', {
        customer_id: customerId,
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
      });
      const subscription_id = made.id;
      const added = await api.make('/v1/subscriptions/addon', {
        subscription_id,
        addon_id: addon.id,
        proration_behavior,
      });
      const invoices = [];
      for (const { id } of [made.latest_invoice, added.invoice]) {
        const paid = { payment_status: 'SUCCEEDED' };
        await api.call('PUT', `/v1/invoices/${id}/payment`, { body: paid });
        invoices.push((await api.call('GET', `/v1/invoices/${id}`)).body);
      }
      const [fees, ofAddon] = invoices;
      const path = `/v1/subscriptions/${subscription_id}`;
      const ended = { proration_behavior, cancellation_type: 'immediate' };
      return {
        which: sql.fragment`wallets WHERE customer_id = ${customerId}`,
        note: send('POST', '/v1/creditnotes', noteOn(fees, '29.99')),
        noteOnAddon: send('POST', '/v1/creditnotes', noteOn(ofAddon, '4.99')),
        void: send('POST', `/v1/invoices/${fees.id}/void`, {}),
        cancel: send('POST', `${path}/cancel`, ended),
        defer: send('POST', `${path}/cancel`, {
          proration_behavior,
          cancellation_type: 'scheduled_date',
          cancel_at: SECOND,
        }),
        end: async () => {
          await bill(SECOND);
          return { status: 200 };
        },
        fewer: send('POST', `${path}/modify/execute`, {
          type: 'quantity_change',
          quantity_change_params: { line_items: [{ id: made.line_items[0].id, quantity: '0' }] },
        }),
        remove: send('DELETE', '/v1/subscriptions/addon', {
          addon_association_id: added.id,
          proration_behavior,
          effective_date: '2026-01-01T00:00:00Z',
        }),
        held: async () => {
          const { items } = await api.make('/v1/wallets/search', { customer_ids: [customerId] });
          return items.map((one: Answer) => one.balance);
        },
      };
    };
    const found = [];
    for (const [first, second] of [
      ['note', 'cancel'],
      ['cancel', 'note'],
      ['note', 'fewer'],
      ['noteOnAddon', 'remove'],
      ['void', 'cancel'],
      ['note', 'end'],
    ] as const) {
      const one = await subscribe(`${first} ${second}`);
      if (second === 'end') {
        await one.defer();
        await setTestClock(database.database, api.environment, Date.parse(SECOND));
      }
      const answers = await inTurnWhileHeld<Answer>(database.database, one.which, [
        one[first],
        one[second],
      ]);
      found.push([first, second, ...answers.map(({ status }) => status), ...(await one.held())]);
    }
    expect(found).toEqual([
      ['note', 'cancel', 201, 200, '35'],
      ['cancel', 'note', 200, 400, '35'],
      ['note', 'fewer', 201, 200, '30'],
      ['noteOnAddon', 'remove', 201, 200, '5'],
      ['void', 'cancel', 200, 200, '35'],
      // 0.01 of the fee, and 30 ÷ 31 of 5.00.
      ['note', 'end', 201, 200, '34.84'],
    ]);
  });

  test('lines that change while a draft is finalized are on it with both of their times', async ({
    api,
    bill,
    world,
  }) => {
    const priced = async (owner: object, amount: string) => {
      const price = { currency: 'usd', amount, invoice_cadence: 'ADVANCE' };
      await api.make('/v1/prices', { ...owner, ...price });
    };
    const plan = await api.make('/v1/plans', { name: 'Seats' });
    await priced({ entity_id: plan.id }, '12');
    const addon = await api.make('/v1/addons', { name: 'Support', lookup_key: 'support' });
    await priced({ entity_type: 'ADDON', entity_id: addon.id }, '30');
    const subscribe = async (name: string, members: object) => {
      await api.make('/v1/customers', { external_id: name });
      return api.make('/v1/subscriptions', {
        external_customer_id: name,
        plan_id: plan.id,
        currency: 'usd',
        billing_period: 'MONTHLY',
        start_date: '2026-01-01T00:00:00Z',
        ...members,
      });
    };
    const override = (price: string) => [{ price_id: price, quantity: '10' }];
    const { items: prices } = await api.make('/v1/prices/search', { entity_ids: [plan.id] });
    const seats = await subscribe('seats', { override_line_items: override(prices[0].id) });
    const helped = await subscribe('helped', {});
    const added = await api.make('/v1/subscriptions/addon', {
      subscription_id: helped.id,
      addon_id: addon.id,
    });
    await bill('2026-02-01T00:00:00Z');
    await world.turn('2026-02-01T02:00:00Z');
    const turn = await world.finalizeBeside(async (needs, occasion) => {
      const target = { id: seats.line_items[0].id };
      await changeLine(needs, occasion, { target, body: { quantity: '15' } });
      await removeAddon(needs, occasion, {
        addon_association_id: added.id,
        effective_date: '2026-02-01T02:00:00Z',
        proration_behavior: 'create_prorations',
      });
    });
    expect(turn).toMatchObject({ done: 0, overtaken: 2 });
    const versionOf = async ({ id }: Answer) => {
      const { body, headers } = await api.call('GET', `/v1/subscriptions/${id}`);
      return [body.version, headers.get('etag')];
    };
    expect(await versionOf(seats)).toEqual([3, '"3"']);
    await bill('2026-02-01T02:00:00Z');
    const subtotals = async (subscription: Answer) => {
      const of = { subscription_id: subscription.id };
      const { items } = await api.make('/v1/invoices/search', of);
      return items.map((one: Answer) => `${one.invoice_status} ${one.subtotal}`).toSorted();
    };
    expect(await subtotals(seats)).toEqual(['FINALIZED 120.00', 'FINALIZED 179.82']);
    // 12.00 for the seat, 30.00 for January, and 30.00 × 2 ÷ 672 hours.
    expect((await subtotals(helped)).at(-1)).toBe('FINALIZED 42.09');
  });
});
