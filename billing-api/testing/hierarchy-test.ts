import { COUNT_EVENTS } from '../../contract/aggregation.js';
import { test as billedTest } from './billed-test.js';
import { expectBalancedBooks } from './check-books.js';
import { completeBackfills } from './finish-partition.js';
import { generationOf } from './meter-generation.js';
import type { Answer } from './money-test.js';
import { storeEvents } from './write-usage-minutes.js';

/** Subscriptions of several customers, to a plan of 100.00 in advance and 2.00 for each unit. */
export type Hierarchy = {
  readonly planId: string;
  readonly meterId: string;
  /** By external id. */
  readonly customers: Readonly<Record<string, Answer>>;
  /** The body of a subscription of January 2026. */
  readonly bodyOf: (externalId: string, members?: object) => object;
  readonly subscribe: (externalId: string, members?: object) => Promise<Answer>;
  /** Stores an event of so many units, received when it happened. */
  readonly use: (externalId: string, at: string, units: number) => Promise<void>;
  readonly read: (id: string) => Promise<Answer>;
  /** Period, reason, status and total of each invoice that a search finds, by period. */
  readonly invoices: (query: object) => Promise<readonly string[]>;
  readonly find: (query: object) => Promise<readonly Answer[]>;
};

const CUSTOMERS = ['holding', 'north', 'south', 'west'];
const SUM = { type: 'SUM', field: 'units' } as const;

export function textOf(one: Answer): string {
  return [
    one.period_start.slice(0, 10),
    one.period_end.slice(0, 10),
    one.billing_reason,
    one.invoice_status,
    one.total,
  ].join(' ');
}

/** `test` of the API with such subscriptions, from 1 Jan 2026; the books are verified after it. */
export const test = billedTest.extend<{ world: Hierarchy }>({
  world: async ({ api, bill, database, clickhouse }, use) => {
    await bill('2026-01-01T00:00:00Z');
    const plan = await api.make('/v1/plans', { name: 'Pro' });
    const meter = await api.make('/v1/meters', {
      name: 'Units',
      event_name: 'call',
      aggregation: SUM,
    });
    const ofPlan = { entity_id: plan.id, currency: 'usd' };
    await api.make('/v1/prices', { ...ofPlan, amount: '100', invoice_cadence: 'ADVANCE' });
    await api.make('/v1/prices', { ...ofPlan, amount: '2', meter_id: meter.id });
    const customers: Record<string, Answer> = {};
    for (const externalId of CUSTOMERS) {
      customers[externalId] = await api.make('/v1/customers', { external_id: externalId });
    }
    await completeBackfills(database.database);
    const meterId = meter.id as string;
    const generation = await generationOf(database.database, meterId);
    const { environment } = api;
    const target = { environment, meterId, generation, aggregation: { ...COUNT_EVENTS, ...SUM } };
    const bodyOf = (externalId: string, members: object = {}) => ({
      external_customer_id: externalId,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-01-01T00:00:00Z',
      ...members,
    });
    const find = async (query: object): Promise<readonly Answer[]> => {
      const { items } = await api.make('/v1/invoices/search', query);
      return items.sort(
        (a: Answer, b: Answer) =>
          a.period_end.localeCompare(b.period_end) || a.billing_sequence - b.billing_sequence,
      );
    };
    await use({
      planId: plan.id,
      meterId,
      customers,
      bodyOf,
      find,
      subscribe: (externalId, members) =>
        api.make('/v1/subscriptions', bodyOf(externalId, members)),
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
      read: async (id) => (await api.call('GET', `/v1/subscriptions/${id}`)).body,
      invoices: async (query) => (await find(query)).map(textOf),
    });
    await expectBalancedBooks(api);
  },
});
