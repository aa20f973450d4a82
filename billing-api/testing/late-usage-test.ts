import { test } from './billed-test.js';
import { makeSubscription } from './billing-test.js';
import { completeBackfills } from './finish-partition.js';
import { generationOf } from './meter-generation.js';
import { lookForLate } from './look-for-late.js';
import { storeEvents } from './write-usage-minutes.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Answer = any;

const JANUARY = { billing_cycle: 'calendar', start_date: '2027-01-01T00:00:00.000Z' };
/** When the invoices of January, February and March are final. */
export const FINAL = {
  january: '2027-02-01T03:00:00.000Z',
  february: '2027-03-01T03:00:00.000Z',
  march: '2027-04-01T03:00:00.000Z',
} as const;

type World = {
  readonly id: string;
  readonly planId: string;
  readonly customerId: string;
  /** Counts so many calls of a day; with `ids`, as `<ids>-0`, `<ids>-1` and so on. */
  readonly count: (day: string, count: number, ids?: string) => Promise<void>;
  readonly look: () => Promise<void>;
  /** The invoices that count, in their order. */
  readonly invoices: () => Promise<Answer[]>;
  readonly listed: (query?: string) => Promise<Answer[]>;
};

export const lateTest = test.extend<{ world: World }>({
  world: async ({ api, database, clickhouse }, use) => {
    const { meterId, planId, customerId, id } = await makeSubscription(api, JANUARY);
    await completeBackfills(database.database);
    const { environment } = api;
    const generation = await generationOf(database.database, meterId);
    const target = { environment, meterId, generation };
    const world = { database: database.database, clickHouse: clickhouse.client, environment };
    await use({
      id,
      planId,
      customerId,
      count: (day, count, ids) =>
        storeEvents(
          { database, clickhouse },
          environment,
          Array.from({ length: count }, (_, at) => ({
            ...(ids === undefined ? {} : { id: `${ids}-${at}` }),
            at: `${day}T10:${String(at % 60).padStart(2, '0')}:00Z`,
            eventName: 'call',
            countsOn: [target],
          })),
        ),
      look: () => lookForLate(world),
      invoices: async () => {
        const { body } = await api.call('POST', '/v1/invoices/search', {
          body: { subscription_id: id, invoice_status: ['FINALIZED'] },
        });
        return body.items.toSorted(
          (a: Answer, b: Answer) => Date.parse(a.period_start) - Date.parse(b.period_start),
        );
      },
      listed: async (query = '') =>
        (await api.call('GET', `/v1/billing/late-usage${query}`)).body.items,
    });
  },
});

export const linesOf = ({ line_items: lines }: Answer): string[] =>
  lines.map(
    (line: Answer) =>
      `${line.period_start.slice(0, 7)} ${line.display_name} ${line.quantity} ${line.amount}`,
  );
