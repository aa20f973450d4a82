import { KnownCustomers } from '../customers/known-customers.js';
import { describe, expect } from 'vitest';
import { COUNT_EVENTS, type MeterAggregation } from '../../contract/aggregation.js';
import { test } from '../testing/billing-test.js';
import { storeEvents, type UsageTarget } from '../testing/write-usage-minutes.js';
import { isRefusal } from '../records/refusal.js';
import { readMeterUsage } from './read-meter-usage.js';
import { createUsageReader, type UsageReader } from './store/usage-reader.js';
import { testOccasion } from '../testing/test-occasion.js';
import { generationOf } from '../testing/meter-generation.js';

const USAGE = '/v1/events/usage/meter';
const AGGREGATIONS: readonly MeterAggregation[] = [
  COUNT_EVENTS,
  { ...COUNT_EVENTS, type: 'SUM', field: 'n' },
];

/** Whole minutes, edges inside minutes, and days of a zone whose clock changes on 25 October. */
const QUESTIONS = [
  { start_time: '2026-10-20T00:00:00Z', end_time: '2026-10-30T00:00:00Z' },
  { start_time: '2026-10-20T00:00:30Z', end_time: '2026-10-29T23:59:30Z' },
  {
    start_time: '2026-10-20T00:00:00Z',
    end_time: '2026-10-30T00:00:00Z',
    window_size: 'DAY',
  },
  {
    start_time: '2026-10-19T22:00:00Z',
    end_time: '2026-10-29T23:00:00Z',
    window_size: 'DAY',
    timezone: 'Europe/Berlin',
  },
];

type Answer = { value: string; results?: { start: string; value: string }[] };

/** The values of an answer by window, and that of the whole range. */
function valuesOf({ value, results = [] }: Answer): ReadonlyMap<string, number> {
  const ofWindows = results.map(({ start, value: own }) => [start, Number(own)] as const);
  return new Map([['whole', Number(value)], ...ofWindows]);
}

function sumOf(answers: readonly Answer[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const answer of answers) {
    for (const [name, value] of valuesOf(answer)) sums.set(name, (sums.get(name) ?? 0) + value);
  }
  return sums;
}

describe('the usage of everybody', () => {
  test('is the sum over all customers, with and without usage of unknown ones', async ({
    api,
    database,
    clickhouse,
  }) => {
    const targets: UsageTarget[] = [];
    for (const aggregation of AGGREGATIONS) {
      const { type, field } = aggregation;
      const meter = await api.make('/v1/meters', {
        name: type,
        event_name: 'call',
        aggregation: field === null ? { type } : { type, field },
      });
      const generation = await generationOf(database.database, meter.id);
      const { environment } = api;
      targets.push({ environment, meterId: meter.id, generation, aggregation });
    }
    const names = ['a', 'b', 'c'];
    for (const name of names) await api.make('/v1/customers', { external_id: name });
    const storeOf = (name: string, seed: number) =>
      storeEvents(
        { database, clickhouse },
        api.environment,
        Array.from({ length: 40 }, (_, index) => ({
          at: new Date(Date.UTC(2026, 9, 20) + index * 21_599_500 + seed).toISOString(),
          countsOn: targets,
          customerKey: `e:${name}`,
          properties: { n: String(index + seed) },
        })),
      );
    for (const [seed, name] of names.entries()) await storeOf(name, seed);
    const check = async (): Promise<void> => {
      for (const question of QUESTIONS) {
        for (const { meterId } of targets) {
          const body = { meter_id: meterId, ...question };
          const everybody: Answer = await api.make(USAGE, body);
          const each: Answer[] = [];
          for (const name of names) {
            each.push(await api.make(USAGE, { ...body, external_customer_id: name }));
          }
          expect(valuesOf(everybody)).toEqual(sumOf(each));
          expect(Number(everybody.value)).toBeGreaterThan(0);
        }
      }
    };
    await check();
    await storeOf('nobody', 3);
    await check();
  });
});

const NOW = '2026-11-02T00:00:00Z';
/** One statement tells the customers of the first, and not those of the second. */
const ASKED_MEANWHILE = [
  ['COUNT', COUNT_EVENTS, {}],
  ['SUM by the day', { ...COUNT_EVENTS, type: 'SUM', field: 'n' }, { window_size: 'DAY' }],
] as const;

test.for(ASKED_MEANWHILE)(
  'usage of everybody leaves out unknown customers whose first usage comes meanwhile: %s',
  async ([, aggregation, windows], { api, database, clickhouse }) => {
    const { type, field } = aggregation;
    const meter = await api.make('/v1/meters', {
      name: type,
      event_name: 'call',
      aggregation: field === null ? { type } : { type, field },
    });
    const generation = await generationOf(database.database, meter.id);
    const { environment } = api;
    const target = { environment, meterId: meter.id, generation, aggregation };
    await api.make('/v1/customers', { external_id: 'a' });
    let strangers = 0;
    const store = (name: string) => {
      const properties = { n: '1' };
      const event = { at: '2026-10-21T00:00:00.000Z', customerKey: `e:${name}`, properties };
      const counted = { ...event, countsOn: [target] };
      return storeEvents({ database, clickhouse }, environment, [counted]);
    };
    await store('a');
    await store('stranger');
    const reader = createUsageReader(clickhouse.client);
    // Each time the usage is read, one more customer that does not exist has used something.
    const meanwhile = async <Answer>(read: Promise<Answer>): Promise<Answer> => {
      const answer = await read;
      strangers += 1;
      if (strangers <= 6) await store(`stranger-${strangers}`);
      return answer;
    };
    const usage: UsageReader = {
      ...reader,
      readEverybody: (...asked) => meanwhile(reader.readEverybody(...asked)),
      listCustomerKeys: (...asked) => meanwhile(reader.listCustomerKeys(...asked)),
    };
    const answer = await readMeterUsage(
      {
        database: database.database,
        usage,
        dataUntil: () => Promise.resolve(null),
        knownCustomers: new KnownCustomers(),
        clock: { now: () => Date.parse(NOW) },
      },
      testOccasion({ environment, userId: 'user' }),
      { meter_id: meter.id, start_time: '2026-10-20T00:00:00Z', end_time: NOW, ...windows },
    );
    if (isRefusal(answer)) throw new Error(answer.message);
    expect(answer.value.toFixed()).toBe('1');
    expect(strangers).toBeGreaterThan(1);
  },
);

test('usage of everybody is one statement where its rows can tell the customers', async () => {
  const asked: string[] = [];
  const reader = createUsageReader({
    query: () => Promise.reject(new Error('not asked')),
    visitRows: ({ select }, visit) => {
      asked.push(select);
      visit([[0], ['e:a', 'e:b'], [5]]);
      return Promise.resolve();
    },
  });
  const minutes = { meterId: 'meter_1', generations: [7] };
  const query = {
    customers: { kind: 'all-but', keys: [] } as const,
    subject: {
      eventName: 'call',
      filters: [],
      aggregation: COUNT_EVENTS,
      minutes,
      ends: null,
      corrections: [],
    },
    window: { startMs: 0, endMs: 60_000 },
    narrowedBy: [],
    sources: null,
    slots: null,
    isFirstSlotOnly: false,
    split: { source: false, group: false, properties: [] },
  };
  const environment = { tenantId: 't', environmentId: 'e' };
  const usage = await reader.readEverybody(environment, [query]);
  expect(asked).toHaveLength(1);
  expect(usage?.keys).toEqual(['e:a', 'e:b']);
  expect(usage?.found[0]?.[0]?.cells[0]?.eventCount).toBe(5);
});
