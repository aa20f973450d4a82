import type { SeededRandom } from '../../load-tests/harness/seeded-random.js';
import type { BillingUnderTest } from './billing-harness.js';
import type { Answer } from './money-test.js';

const DAY_MS = 24 * 3_600_000;

/** What random operations on charges in advance share with those on their invoices. */
export type AdvanceWorld = {
  readonly api: BillingUnderTest;
  readonly random: SeededRandom;
  readonly customers: readonly string[];
  readonly invoices: Answer[];
  /** Ids of plans of seats in advance, and of subscriptions to them. */
  readonly plans: readonly string[];
  readonly subscriptions: string[];
  /** Does what waits for a job. */
  readonly runJobs: () => Promise<void>;
};

/** Two plans, each of seats and a fee, and taxes on what one of the customers is charged. */
export async function makeAdvancePlans(api: BillingUnderTest, customerId: string) {
  await api.make('/v1/taxes/associations', {
    tax_rate_code: 'VAT',
    entity_type: 'customer',
    entity_id: customerId,
    auto_apply: true,
  });
  const plans: string[] = [];
  for (const [seat, fee] of [
    ['12.34', '49.99'],
    ['7.77', '100'],
  ] as const) {
    const { id } = await api.make('/v1/plans', { name: `Seats of ${seat}` });
    const price = { entity_id: id, currency: 'usd', invoice_cadence: 'ADVANCE' };
    await api.make('/v1/prices', { ...price, amount: seat, min_quantity: 5 });
    await api.make('/v1/prices', { ...price, amount: fee });
    plans.push(id);
  }
  return plans;
}

const drawn = <Item>({ random }: AdvanceWorld, items: readonly Item[]): Item | undefined =>
  items[random.below(Math.max(1, items.length))];

/** Knows the invoices of a subscription that are new. */
async function findInvoices({ api, invoices }: AdvanceWorld, id: string): Promise<void> {
  const { body, status } = await api.call('POST', '/v1/invoices/search', {
    body: { subscription_id: id, limit: 100 },
  });
  if (status !== 200) return;
  const known = new Set(invoices.map((invoice) => invoice.id));
  const found = body.items.filter(({ id: one }: Answer) => !known.has(one));
  for (const { id: one } of found) {
    const read = await api.call('GET', `/v1/invoices/${one}`);
    if (read.status === 200) invoices.push(read.body);
  }
}

async function subscribe(world: AdvanceWorld): Promise<void> {
  const begun = Date.now() - (1 + world.random.below(25)) * DAY_MS - world.random.below(DAY_MS);
  const { body, status } = await world.api.call('POST', '/v1/subscriptions', {
    body: {
      customer_id: drawn(world, world.customers),
      plan_id: drawn(world, world.plans),
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: new Date(begun).toISOString(),
      ...(world.random.below(3) === 0 ? { coupons: ['TEN'] } : {}),
    },
  });
  if (status !== 201) return;
  world.subscriptions.push(body.id);
  await findInvoices(world, body.id);
}

/** Does something with a subscription that has been made, and knows the invoices that follow. */
async function change(world: AdvanceWorld, act: (id: string) => Promise<unknown>): Promise<void> {
  const id = drawn(world, world.subscriptions);
  if (id === undefined) return;
  await act(id);
  await findInvoices(world, id);
}

const changeSeats = (world: AdvanceWorld) =>
  change(world, async (id) => {
    const { body } = await world.api.call('GET', `/v1/subscriptions/${id}`);
    const running = body.line_items.filter((line: Answer) => line.end_date === null);
    const line = drawn<Answer>(world, running);
    if (line === undefined) return;
    const quantity = String(world.random.below(12));
    await world.api.call('POST', `/v1/subscriptions/${id}/modify/execute`, {
      body: {
        type: 'quantity_change',
        quantity_change_params: { line_items: [{ id: line.id, quantity }] },
      },
    });
  });

const cancel = (world: AdvanceWorld) =>
  change(world, (id) =>
    world.api.call('POST', `/v1/subscriptions/${id}/cancel`, {
      body: { cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
    }),
  );

const changePlan = (world: AdvanceWorld) =>
  change(world, async (id) => {
    const { body, status } = await world.api.call(
      'POST',
      `/v1/subscriptions/${id}/change/execute`,
      {
        body: {
          target_plan_id: drawn(world, world.plans),
          billing_cadence: 'RECURRING',
          billing_period: 'MONTHLY',
          billing_period_count: 1,
          billing_cycle: 'anniversary',
          proration_behavior: 'create_prorations',
        },
      },
    );
    if (status !== 200) return;
    world.subscriptions.push(body.new_subscription.id);
    await findInvoices(world, body.new_subscription.id);
  });

/** Voids an invoice of a subscription and replaces it; the replacement may be voided next. */
async function replace(world: AdvanceWorld): Promise<void> {
  const own = world.invoices.filter(({ invoice_type: type }) => type === 'SUBSCRIPTION');
  const invoice = drawn<Answer>(world, own);
  if (invoice === undefined) return;
  const path = `/v1/invoices/${invoice.id}`;
  await world.api.call('POST', `${path}/void`, { body: {} });
  const { status } = await world.api.call('POST', `${path}/recalculate`);
  if (status !== 202) return;
  await world.runJobs();
  await findInvoices(world, invoice.subscription_id);
}

/** A credit note, or a refund, at the very moment at which something is unused. */
async function beside(world: AdvanceWorld): Promise<void> {
  const own = world.invoices.filter(({ subscription_id: id }) => world.subscriptions.includes(id));
  const invoice = drawn<Answer>(world, own);
  const line = invoice === undefined ? undefined : drawn<Answer>(world, invoice.line_items);
  if (line === undefined) return;
  const { api } = world;
  await api.call('PUT', `/v1/invoices/${invoice.id}/payment`, {
    body: { amount: drawn(world, [invoice.amount_due, '20']) },
  });
  const paid = await api.call('GET', `/v1/payments?destination_id=${invoice.id}`);
  const payment = drawn<Answer>(world, paid.body.items);
  const others = [
    () =>
      api.call('POST', '/v1/creditnotes', {
        body: {
          invoice_id: invoice.id,
          line_items: [
            { invoice_line_item_id: line.id, amount: drawn(world, [line.amount, '10', '0.01']) },
          ],
        },
      }),
    () => api.call('POST', `/v1/invoices/${invoice.id}/void`, { body: {} }),
    () => api.call('PUT', `/v1/payments/${payment?.id}`, { body: { payment_status: 'REFUNDED' } }),
  ];
  const unused = drawn(world, [cancel, changeSeats, changePlan]);
  const only = { ...world, subscriptions: [invoice.subscription_id] };
  await Promise.all([drawn(world, others)?.(), unused?.(only)]);
  await findInvoices(world, invoice.subscription_id);
}

/** Random operations on charges in advance, by their weight. */
export const ADVANCE_OPERATIONS: readonly ((world: AdvanceWorld) => Promise<void>)[] = [
  subscribe,
  subscribe,
  subscribe,
  changeSeats,
  changeSeats,
  changeSeats,
  cancel,
  changePlan,
  replace,
  replace,
  beside,
  beside,
  beside,
];
