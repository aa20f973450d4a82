import { COUNT_EVENTS } from '../../contract/aggregation.js';
import { test as billedTest } from './billed-test.js';
import type { BillingUnderTest } from './billing-harness.js';
import { expectBalancedBooks } from './check-books.js';
import { completeBackfills } from './finish-partition.js';
import { generationOf } from './meter-generation.js';
import type { Answer } from './money-test.js';
import { payOpen } from './pay-open.js';
import { setTestClock } from './set-test-clock.js';
import { storeEvents } from './write-usage-minutes.js';

/**
 * What worked cases of other billing systems are told with: the customer `acme`, plans, one or more
 * subscriptions, and a clock that is turned. An instant may be given as a day: its 00:00 UTC.
 */
export type PeerCase = {
  /** Turns the clock, and does everything that is due until then. */
  readonly live: (instant: string) => Promise<void>;
  /** Turns the clock, and does nothing that is due. */
  readonly turn: (instant: string) => Promise<void>;
  readonly plan: (...prices: readonly object[]) => Promise<Answer>;
  /** A subscription, monthly in usd from now on unless the members say otherwise. */
  readonly subscribe: (plan: Answer, members?: object) => Promise<Answer>;
  /** The answer to POST /subscriptions/{id}/…, which must be a success. */
  readonly post: (subscription: Answer, path: string, body?: object) => Promise<Answer>;
  readonly read: (subscription: Answer) => Promise<Answer>;
  /** Changes the plan, when all is paid: to whole months from now on unless the members differ. */
  readonly change: (subscription: Answer, plan: Answer, members?: object) => Promise<Answer>;
  /** The invoices of a subscription, oldest first. */
  readonly find: (subscription: Answer) => Promise<readonly Answer[]>;
  /** `2026-01-01 2026-02-01 SUBSCRIPTION_CREATE 100.00` for each invoice, oldest first. */
  readonly invoices: (subscription: Answer) => Promise<readonly string[]>;
  /** What is in the wallets of `acme`, oldest wallet first. */
  readonly credits: () => Promise<readonly string[]>;
  /** Makes a meter that adds up events of this name; answers it with a way to store such events. */
  readonly meter: (name: string) => Promise<PeerMeter>;
};

export type PeerMeter = {
  readonly id: string;
  /** Stores an event of so many units, received when it happened. */
  readonly use: (at: string, units: number | string) => Promise<void>;
};

/** A day stands for its 00:00 UTC. */
export const instant = (text: string): string =>
  text.length === 10 ? `${text}T00:00:00.000Z` : text;

/** A fixed price in advance. */
export const advance = (amount: string, members: object = {}) => ({
  amount,
  currency: 'usd',
  invoice_cadence: 'ADVANCE',
  ...members,
});

/** A fixed price in arrear. */
export const arrear = (amount: string, members: object = {}) => ({
  amount,
  currency: 'usd',
  invoice_cadence: 'ARREAR',
  ...members,
});

/** A price for each unit of a meter. */
export const usage = (meter: PeerMeter, amount: string, members: object = {}) => ({
  amount,
  currency: 'usd',
  meter_id: meter.id,
  ...members,
});

const textOf = (one: Answer): string =>
  [one.period_start.slice(0, 10), one.period_end.slice(0, 10), one.billing_reason, one.total].join(
    ' ',
  );

async function successOf(call: Promise<Answer>, path: string): Promise<Answer> {
  const { status, body } = await call;
  if (status < 300) return body;
  throw new Error(`${path} answered ${status}: ${JSON.stringify(body)}`);
}

async function makePlan(api: BillingUnderTest, prices: readonly object[]): Promise<Answer> {
  const plan = await api.make('/v1/plans', { name: 'Plan' });
  for (const price of prices) await api.make('/v1/prices', { entity_id: plan.id, ...price });
  return plan;
}

async function findInvoices(api: BillingUnderTest, { id }: Answer): Promise<readonly Answer[]> {
  const sort = [{ field: 'billing_sequence', direction: 'asc' }];
  const body = { subscription_id: id, limit: 100, sort };
  const { items } = await api.make('/v1/invoices/search', body);
  return items;
}

/** `test` of the API with the customer `acme`; the books are verified after each test. */
export const test = billedTest.extend<{ peer: PeerCase }>({
  peer: async ({ api, bill, database, clickhouse }, use) => {
    await api.make('/v1/customers', { external_id: 'acme', name: 'Acme' });
    const { environment } = api;
    const post: PeerCase['post'] = ({ id }, path, body = {}) =>
      successOf(api.call('POST', `/v1/subscriptions/${id}/${path}`, { body }), path);
    await use({
      live: (at) => bill(instant(at)),
      turn: async (at) => {
        await setTestClock(database.database, environment, Date.parse(instant(at)));
      },
      plan: (...prices) => makePlan(api, prices),
      subscribe: (plan, members = {}) =>
        api.make('/v1/subscriptions', {
          external_customer_id: 'acme',
          plan_id: plan.id,
          currency: 'usd',
          billing_period: 'MONTHLY',
          ...members,
        }),
      post,
      read: async ({ id }) => (await api.call('GET', `/v1/subscriptions/${id}`)).body,
      change: async (subscription, plan, members = {}) => {
        await payOpen(api);
        return post(subscription, 'change/execute', {
          target_plan_id: plan.id,
          billing_cadence: 'RECURRING',
          billing_cycle: 'anniversary',
          billing_period: 'MONTHLY',
          billing_period_count: 1,
          proration_behavior: 'create_prorations',
          ...members,
        });
      },
      find: (subscription) => findInvoices(api, subscription),
      invoices: async (subscription) => (await findInvoices(api, subscription)).map(textOf),
      credits: async () => {
        const { items } = await api.make('/v1/wallets/search', { external_customer_id: 'acme' });
        return items.map((one: Answer) => one.credit_balance).reverse();
      },
      meter: async (name) => {
        const aggregation = { type: 'SUM', field: 'units' } as const;
        const { id } = await api.make('/v1/meters', { name, event_name: name, aggregation });
        await completeBackfills(database.database);
        const generation = await generationOf(database.database, id as string);
        const counted = { ...COUNT_EVENTS, ...aggregation };
        const target = { environment, meterId: id as string, generation, aggregation: counted };
        return {
          id: id as string,
          use: (at, units) =>
            storeEvents({ database, clickhouse }, environment, [
              {
                at: instant(at),
                eventName: name,
                properties: { units: String(units) },
                countsOn: [target],
              },
            ]),
        };
      },
    });
    await expectBalancedBooks(api);
  },
});
