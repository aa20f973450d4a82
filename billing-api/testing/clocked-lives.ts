import { expect } from 'vitest';
import type { Job } from '../../sql/jobs/job.js';
import { COUNT_EVENTS } from '../../contract/aggregation.js';
import type { JobNeeds } from '../jobs/job-needs.js';
import { TAKE_BY_GATEWAY } from '../jobs/take-payments.js';
import type { BillingUnderTest } from './billing-harness.js';
import { CLOCKS, test as clockedTest, type AdvanceTo } from './clocked-test.js';
import { completeBackfills } from './finish-partition.js';
import { KEY } from './gateway-test.js';
import { generationOf } from './meter-generation.js';
import type { Answer } from './money-test.js';
import { startStripeSimulator, type StripeSimulator } from './stripe-simulator.js';
import { storeEvents } from './write-usage-minutes.js';

const START = '2027-01-01T00:00:00.000Z';
const SUM = { type: 'SUM', field: 'units' } as const;

const DAY_MS = 24 * 3_600_000;

type Use = (externalId: string, at: string, units: number) => Promise<void>;

/** Subscribes customers to plans of 100.00 in advance and 2.00 for each unit. */
export type World = {
  readonly planId: string;
  readonly targetId: string;
  readonly use: Use;
  readonly subscribe: (externalId: string, members?: object) => Promise<Answer>;
  readonly stripe: StripeSimulator;
};

const CUSTOMERS = ['holding', 'north', 'south', 'west', 'phased', 'idle', 'busy', 'trial'];
const PAID = ['card', 'declined', 'prepaid', 'leaving', 'dated', 'island'];

async function planOf(api: BillingUnderTest, name: string, meterId: string): Promise<string> {
  const { id } = await api.make('/v1/plans', { name });
  for (const billingPeriod of ['MONTHLY', 'WEEKLY']) {
    const ofPlan = { entity_id: id, currency: 'usd', billing_period: billingPeriod };
    await api.make('/v1/prices', { ...ofPlan, amount: '100', invoice_cadence: 'ADVANCE' });
    await api.make('/v1/prices', { ...ofPlan, amount: '2', meter_id: meterId });
  }
  return id as string;
}

/** `test` of everything that time alone makes happen, on a clock that is turned. */
export const test = clockedTest.extend<{ world: World; moreJobs: readonly Job<JobNeeds>[] }>({
  moreJobs: async ({}, use) => use([TAKE_BY_GATEWAY]),
  world: async ({ api, database, clickhouse, advance: _ }, use) => {
    await api.make(CLOCKS, { now: START });
    const stripe = await startStripeSimulator();
    const meter = await api.make('/v1/meters', {
      name: 'Units',
      event_name: 'call',
      aggregation: SUM,
    });
    const meterId = meter.id as string;
    const planId = await planOf(api, 'Pro', meterId);
    const targetId = await planOf(api, 'Scale', meterId);
    for (const each of [...CUSTOMERS, ...PAID])
      await api.make('/v1/customers', { external_id: each });
    await completeBackfills(database.database);
    const generation = await generationOf(database.database, meterId);
    const { environment } = api;
    const target = { environment, meterId, generation, aggregation: { ...COUNT_EVENTS, ...SUM } };
    await use({
      planId,
      targetId,
      stripe,
      use: (externalId, at, units) =>
        storeEvents({ database, clickhouse }, environment, [
          {
            at,
            eventName: 'call',
            customerKey: `e:${externalId}`,
            properties: { units: String(units) },
            countsOn: [target],
          },
        ]),
      subscribe: (externalId, members = {}) =>
        api.make('/v1/subscriptions', {
          external_customer_id: externalId,
          plan_id: planId,
          currency: 'usd',
          billing_period: 'MONTHLY',
          start_date: START,
          ...members,
        }),
    });
    await stripe.close();
  },
});

const phase = (month: number, members: object = {}) => ({
  start_date: new Date(Date.UTC(2027, month, 10)).toISOString(),
  ...members,
});

/** Hierarchies of all kinds. */
async function beginFamilies({ subscribe, use }: World): Promise<void> {
  const first = await subscribe('north');
  const second = await subscribe('south', { coupons: ['TENTH'] });
  await subscribe('holding', {
    inheritance: { grouped_invoicing_child_ids: [first.id, second.id] },
  });
  await subscribe('west', { inheritance: { invoicing_customer_external_id: 'holding' } });
  for (const each of ['north', 'south', 'west']) await use(each, '2027-02-03T00:00:00Z', 7);
}

/** A year of everything that time alone makes happen. */
async function beginLives(api: BillingUnderTest, world: World): Promise<void> {
  const { subscribe, targetId, use } = world;
  await api.make('/v1/coupons', {
    name: 'Tenth',
    coupon_code: 'TENTH',
    type: 'percentage',
    percentage_off: '10',
    cadence: 'repeated',
    duration_in_periods: 5,
  });
  const addon = await api.make('/v1/addons', { name: 'Support', lookup_key: 'support' });
  await api.make('/v1/prices', {
    entity_type: 'ADDON',
    entity_id: addon.id,
    currency: 'usd',
    amount: '30',
    invoice_cadence: 'ADVANCE',
  });
  await beginFamilies(world);
  await subscribe('phased', {
    phases: [
      { start_date: START, end_date: phase(2).start_date },
      phase(2, { end_date: phase(5).start_date, coupons: ['TENTH'] }),
      phase(5),
    ],
  });
  const credits = {
    name: 'Monthly',
    credits: '15',
    cadence: 'RECURRING',
    period: 'MONTHLY',
    period_count: 1,
  };
  await subscribe('busy', {
    addons: [{ addon_id: addon.id }],
    payment_terms: '15 NET',
    credit_grants: [
      {
        ...credits,
        expiration_type: 'DURATION',
        expiration_duration: 20,
        expiration_duration_unit: 'DAY',
      },
    ],
  });
  await use('busy', '2027-04-05T06:07:08Z', 55);
  const heirs = { external_customer_ids_to_inherit_subscription: ['idle'] };
  const trial = await subscribe('trial', { trial_period_days: 10, inheritance: heirs });
  await use('idle', '2027-03-05T06:07:08Z', 5);
  const change = {
    target_plan_id: targetId,
    billing_cadence: 'RECURRING',
    billing_cycle: 'calendar',
  };
  await api.make(`/v1/subscriptions/${trial.id}/change/execute`, {
    ...change,
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    proration_behavior: 'create_prorations',
    change_at: 'end_of_period',
  });
}

/** Connects the gateway that charges cards. */
async function connectCards(api: BillingUnderTest, { stripe }: World): Promise<void> {
  await api.make('/v1/connections', {
    name: 'Cards',
    provider_type: 'stripe',
    endpoint_url: stripe.url,
    secrets: { secret_key: KEY, webhook_secret: stripe.webhookSecret },
  });
}

const BY_CARD = { collection_method: 'charge_automatically' } as const;
const BY_GOOD_CARD = { ...BY_CARD, gateway_payment_method_id: 'pm_card_visa' } as const;

/** Lives that cards and wallets pay, and lives that pause and end. */
async function beginPaid(api: BillingUnderTest, { subscribe, use }: World): Promise<void> {
  const made = await subscribe('card', {
    ...BY_GOOD_CARD,
    billing_cycle: 'calendar',
    customer_timezone: 'Europe/Berlin',
  });
  await api.make(`/v1/subscriptions/${made.id}/pause`, {
    pause_mode: 'scheduled',
    pause_start: '2027-02-20T10:00:00Z',
    pause_days: 17,
  });
  await api.call('PUT', '/v1/settings/subscription_auto_cancel', {
    body: { value: { enabled: true, grace_period_days: 40 } },
  });
  const declined = { ...BY_CARD, gateway_payment_method_id: 'pm_card_chargeDeclined' };
  await subscribe('declined', declined);
  await api.make('/v1/wallets', {
    external_customer_id: 'prepaid',
    currency: 'usd',
    initial_credits_to_load: '250',
    config: { allowed_price_types: ['ALL'] },
    initial_credits_expiry_date_utc: '2027-02-14T00:00:00Z',
    auto_topup: { enabled: true, threshold: '20', amount: '90' },
  });
  await api.make('/v1/wallets', {
    external_customer_id: 'leaving',
    currency: 'usd',
    initial_credits_to_load: '5',
    auto_topup: {
      enabled: true,
      threshold: '20',
      amount: '4',
      cooldown: { value: 5, unit: 'day' },
    },
  });
  await subscribe('prepaid', { coupons: ['TENTH'] });
  await use('prepaid', '2027-01-09T00:00:00Z', 11);
  const leaving = await subscribe('leaving', { billing_period: 'WEEKLY' });
  await api.make(`/v1/subscriptions/${leaving.id}/cancel`, {
    cancellation_type: 'scheduled_date',
    cancel_at: '2027-02-10T11:00:00Z',
  });
  const dated = await subscribe('dated', { end_date: '2027-03-05T12:34:56.789Z' });
  await api.make(`/v1/subscriptions/${dated.id}/pause`, {
    pause_mode: 'period_end',
    pause_days: 9,
  });
  await subscribe('island', { billing_period: 'WEEKLY', customer_timezone: 'Australia/Lord_Howe' });
}

const ID = /\b[a-z]+(?:_[a-z]+)*_[0-9A-HJKMNP-TV-Z]{26}\b/g;
const HASH = /\b[0-9a-f]{64}\b/g;
const FOREIGN = /\bpi_\w+/g;

/** Ids by what they name, which is the same in every world. */
function namesOf(customers: Answer[], subscriptions: Answer[], invoices: Answer[]) {
  const names = new Map<string, string>();
  for (const { id, external_id: name } of customers) names.set(id, name);
  for (const one of subscriptions) {
    const { id, customer_id: customer, plan_id: plan, start_date: start } = one;
    names.set(id, `${names.get(customer)} from ${start}, ${plan === null}`);
  }
  for (const one of invoices) {
    const { id, subscription_id: of, customer_id: payer, billing_sequence: count } = one;
    names.set(id, `invoice ${count} of ${names.get(of) ?? names.get(payer)}`);
  }
  return names;
}

/** All items of a list, page by page. */
async function everyItem(pageAt: (offset: number) => Promise<Answer>): Promise<Answer[]> {
  const items: Answer[] = [];
  for (;;) {
    const { items: page, pagination } = await pageAt(items.length);
    items.push(...page);
    if (page.length === 0 || items.length >= pagination.total) return items;
  }
}

/** All system events, in their order. */
async function eventsOf(api: BillingUnderTest): Promise<Answer[]> {
  const events: Answer[] = [];
  for (let after = 0; ;) {
    const { body } = await api.call('GET', `/v1/webhooks/events?limit=1000&after=${after}`);
    events.push(...body.items);
    if (!body.has_more) return events;
    after = body.next_after;
  }
}

/** Everything that a life leaves behind as the API answers it, each id by what it names. */
export async function lifeOf(api: BillingUnderTest): Promise<Readonly<Record<string, string[]>>> {
  const found = (path: string): Promise<Answer[]> =>
    everyItem((offset) => api.make(`/v1/${path}/search`, { limit: 1000, offset }));
  const listed = (path: string): Promise<Answer[]> =>
    everyItem(
      async (offset) => (await api.call('GET', `/v1/${path}?limit=1000&offset=${offset}`)).body,
    );
  const [customers, subscriptions] = [await found('customers'), await found('subscriptions')];
  const invoices = await found('invoices');
  const names = namesOf(customers, subscriptions, invoices);
  const textOf = (one: Answer): string =>
    JSON.stringify(one)
      .replaceAll(ID, (id) => names.get(id) ?? id.slice(0, id.lastIndexOf('_')))
      .replaceAll(HASH, 'hash')
      .replaceAll(FOREIGN, 'pi');
  const sorted = (items: Answer[]): string[] => items.map(textOf).sort();
  return {
    invoices: sorted(invoices),
    subscriptions: sorted(subscriptions),
    wallets: sorted(await found('wallets')),
    credits: sorted(await found('wallets/transactions')),
    notes: sorted(await listed('creditnotes')),
    payments: sorted(await listed('payments')),
    postings: sorted(await found('ledger/postings')),
    events: (await eventsOf(api)).map(textOf),
  };
}

/** Instants that cut so many days into so many steps. */
function stepsOf(days: number, count: number): readonly string[] {
  return Array.from({ length: count }, (_n, index) =>
    new Date(Date.parse(START) + ((index + 1) * days * DAY_MS) / count).toISOString(),
  );
}

export type Lived = {
  readonly days: number;
  readonly steps: number;
  /** Whether a card pays for who has none of its own; else most are cancelled as overdue. */
  readonly arePaid?: boolean;
};

/** Lives so many days in so many steps of the clock. */
export async function live(
  { api, advance, world }: { api: BillingUnderTest; advance: AdvanceTo; world: World },
  { days, steps, arePaid = false }: Lived,
) {
  const clock = await api.make(CLOCKS, { now: START });
  await connectCards(api, world);
  const subscribe: World['subscribe'] = (externalId, members) =>
    world.subscribe(externalId, { ...(arePaid ? BY_GOOD_CARD : {}), ...members });
  await beginLives(api, { ...world, subscribe });
  await beginPaid(api, { ...world, subscribe });
  let last: Answer = clock;
  for (const step of stepsOf(days, steps)) last = await advance(clock, step);
  expect(last).toMatchObject({ status: 'ready', failure_reason: null });
  return lifeOf(api);
}
