import { describe, expect } from 'vitest';
import type { ClickHouseQueries } from '../../../clickhouse/client.js';
import { AGGREGATION_TYPES, AGGREGATIONS, COUNT_EVENTS } from '../../../contract/aggregation.js';
import { DAY_MS, MINUTE_MS, type InstantMs } from '../../../contract/instant.js';
import { drawSeed } from '../../../load-tests/harness/draw-seed.js';
import { test } from '../../../load-tests/harness/fixtures.js';
import {
  createSeededRandom,
  type SeededRandom,
} from '../../../load-tests/harness/seeded-random.js';
import { assertPresent, zip } from '../../../runtime/failure.js';
import {
  storeEvents,
  storeUnfinished,
  type StoredEvent,
} from '../../testing/write-usage-minutes.js';
import { NO_SPLIT, type CellSeries } from '../../domain/usage/aggregation-spec.js';
import { addCells, type WindowCell } from '../../domain/usage/window-cell.js';
import { readCheckpoints } from '../watermark/checkpoints.js';
import { readerBelow } from '../watermark/read-below.js';
import type { CellQuery, CellQueryBatch, UsageSubject } from './cell-query.js';
import { createUsageReader } from './usage-reader.js';

/*
 * Queries about many customers travel in one statement. Whatever they ask, each must find what it
 * finds when it is asked alone.
 */

const ENVIRONMENT = { tenantId: 'tenant_1', environmentId: 'env_1' };
const START = Date.UTC(2026, 8, 1);
const CUSTOMERS = 12;
const QUERIES = 80;

/** A customer has two keys, and its events may stand under either. */
const customerOf = (number: number) =>
  ({ kind: 'only', keys: [`e:customer ${number}`, `i:cus_${number}`] }) as const;

/** A meter of every aggregation; the last of them has two sets of rows to add up. */
const METERS = AGGREGATION_TYPES.flatMap((type, index) =>
  [null, 'host'].map((groupBy, grouped) => ({
    environment: ENVIRONMENT,
    meterId: `meter_${index}_${grouped}`,
    generation: 10 * index + grouped + 1,
    aggregation: { ...COUNT_EVENTS, type, field: type === 'COUNT' ? null : 'n', groupBy },
  })),
);

function randomEvents(random: SeededRandom): readonly StoredEvent[] {
  return Array.from({ length: 400 }, (_, index) => {
    const at = START + random.below(30 * 1_440) * MINUTE_MS + random.below(60) * 1_000 + index;
    const host = random.pick(['a', 'b', null]);
    return {
      at: new Date(at).toISOString(),
      customerKey: random.pick(customerOf(random.below(CUSTOMERS + 1)).keys),
      source: random.pick(['', 'web']),
      properties: {
        n: random.pick(['1', '2.5', '7', 'none', '-3']),
        ...(host === null ? {} : { host }),
      },
    };
  });
}

function subjectOf({ meterId, generation, aggregation }: (typeof METERS)[number]): UsageSubject {
  const minutes = { meterId, generations: [generation] };
  return { eventName: 'call', filters: [], aggregation, minutes, ends: null, corrections: [] };
}

function slotsFrom(random: SeededRandom, startMs: InstantMs): CellQuery['slots'] {
  const size = random.pick([null, DAY_MS, 3_600_000 + 1_000]);
  if (size === null) return null;
  return Array.from({ length: 20 }, (_, index) => startMs + index * size);
}

/** Few windows, so that queries of different customers often have the same one. */
function randomQuery(random: SeededRandom): CellQuery {
  const startMs = START + random.pick([0, 5 * DAY_MS, 5 * DAY_MS + 30_000]);
  const isSplit = random.chance(0.3);
  return {
    customers: customerOf(random.below(CUSTOMERS)),
    subject: subjectOf(random.pick(METERS)),
    window: { startMs, endMs: startMs + random.pick([20 * DAY_MS, 20 * DAY_MS + 1]) },
    narrowedBy: random.pick([[], [], [{ key: 'host', values: ['a'] }]]),
    sources: random.pick([null, null, ['web']]),
    slots: slotsFrom(random, startMs),
    split: isSplit
      ? { source: random.chance(0.5), group: random.chance(0.5), properties: [] }
      : NO_SPLIT,
    isFirstSlotOnly: random.chance(0.2),
  };
}

/** The cells of an answer, added up by what tells them apart. */
function cellsOf({ subject }: CellQuery, series: readonly CellSeries[]) {
  const { type } = subject.aggregation;
  const cells = new Map<string, WindowCell>();
  for (const { source, group, texts, ...own } of series) {
    for (const [slot, cell] of zip(own.slots, own.cells)) {
      const name = JSON.stringify([source, group, texts, slot]);
      const known = cells.get(name);
      cells.set(name, known === undefined ? cell : addCells(type, known, cell));
    }
  }
  const shown = [...cells].map(([name, cell]) => [name, JSON.stringify(cell, shownNumbers)]);
  return shown.toSorted(([left = ''], [right = '']) => (left < right ? -1 : 1));
}

const shownNumbers = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? String(value) : value;

const batchOf = (queries: readonly CellQuery[]): CellQueryBatch => ({
  environment: ENVIRONMENT,
  queries,
  bound: null,
});

/** A client that counts the statements it sends. */
function counting(client: ClickHouseQueries) {
  const sent: string[] = [];
  const queries: ClickHouseQueries = {
    query: client.query.bind(client),
    visitRows: (query, visit) => {
      sent.push(query.select);
      return client.visitRows(query, visit);
    },
  };
  return { queries, sent };
}

describe('the customer keys of queries', () => {
  test('are listed though one statement of them is longer than the server takes', async ({
    database,
    clickhouse,
  }) => {
    const names = Array.from({ length: 500 }, (_, index) => `event ${index}`);
    const events = names.slice(0, 3).map((eventName, index) => ({
      at: '2026-09-03T04:05:06.000Z',
      eventName,
      customerKey: `e:customer ${index}`,
    }));
    await storeEvents({ database, clickhouse }, ENVIRONMENT, [...events, ...events]);
    const queries = names.map((eventName): CellQuery => ({
      customers: { kind: 'all-but', keys: [] },
      subject: {
        eventName,
        filters: [],
        aggregation: COUNT_EVENTS,
        minutes: null,
        ends: null,
        corrections: [],
      },
      window: { startMs: START, endMs: START + 20 * DAY_MS },
      narrowedBy: [],
      sources: null,
      slots: null,
      split: NO_SPLIT,
      isFirstSlotOnly: false,
    }));
    const reader = createUsageReader(clickhouse.client);
    const keys = assertPresent(await reader.listCustomerKeys(ENVIRONMENT, queries), 'the keys');
    expect(keys.toSorted()).toEqual(['e:customer 0', 'e:customer 1', 'e:customer 2']);
  });
});

describe('queries about many customers', () => {
  test('find together what each of them finds alone', async ({ database, clickhouse }) => {
    const seed = drawSeed();
    const random = createSeededRandom(seed);
    const events = randomEvents(random).map((event) => ({ ...event, countsOn: METERS }));
    await storeEvents({ database, clickhouse }, ENVIRONMENT, events);
    const queries = Array.from({ length: QUERIES }, () => randomQuery(random));
    const { queries: client, sent } = counting(clickhouse.client);
    const reader = createUsageReader(client);
    const together = assertPresent(await reader.read(batchOf(queries)), 'an answer');
    // Of so many different windows; the server takes no longer statements.
    expect(sent.length).toBeLessThan(QUERIES / 10);
    let found = 0;
    for (const [query, series] of zip(queries, together)) {
      const [alone] = assertPresent(await reader.read(batchOf([query])), 'an answer');
      const expected = cellsOf(query, assertPresent(alone, 'the only answer'));
      expect({ seed, query, cells: cellsOf(query, series) }).toEqual({
        seed,
        query,
        cells: expected,
      });
      found += expected.length;
    }
    expect(found).toBeGreaterThan(QUERIES);
  });

  test('find below the watermark what each finds alone, though events come meanwhile', async ({
    database,
    clickhouse,
  }) => {
    const seed = drawSeed();
    const random = createSeededRandom(seed);
    const engines = { database, clickhouse };
    const counted = (drawn: readonly StoredEvent[]) =>
      drawn.map((event) => ({ ...event, countsOn: METERS }));
    const [finished, late] = [randomEvents(random), randomEvents(random).slice(0, 6)];
    await storeEvents(engines, ENVIRONMENT, counted(finished));
    const { ends } = await readCheckpoints(database.database);
    const queries = Array.from({ length: QUERIES }, () => randomQuery(random));
    const reader = createUsageReader(clickhouse.client);
    const before = assertPresent(await reader.read(batchOf(queries)), 'an answer');
    await storeUnfinished(engines, ENVIRONMENT, counted(late));
    const below = readerBelow({ database: database.database, usage: reader }, ends);
    const after = assertPresent(await below.read(batchOf(queries)), 'an answer');
    for (const [query, [expected, series]] of zip(queries, zip(before, after))) {
      const cells = cellsOf(query, series);
      expect({ seed, query, cells }).toEqual({ seed, query, cells: cellsOf(query, expected) });
    }
  });

  test('tell which customer a late event is of', async ({ database, clickhouse }) => {
    const engines = { database, clickhouse };
    const [meter] = METERS;
    const count = assertPresent(meter, 'a meter');
    const at = '2026-09-03T04:05:06.000Z';
    const lateKey = customerOf(2).keys[1];
    await storeUnfinished(engines, ENVIRONMENT, [
      { at, customerKey: lateKey, countsOn: [count] },
      { at: '2026-09-09T04:05:06.000Z', customerKey: customerOf(2).keys[0], countsOn: [count] },
    ]);
    const queries = [1, 2, 3].map((number) => ({
      customers: customerOf(number),
      subject: subjectOf(count),
      narrowedBy: [],
      window: { startMs: START, endMs: START + 20 * DAY_MS },
      sources: null,
      slots: null,
      split: NO_SPLIT,
      isFirstSlotOnly: false,
    }));
    const { queries: client, sent } = counting(clickhouse.client);
    const ends = [{ log: 'log', partition: 0, countedBelow: 0 }];
    const found = await createUsageReader(client).findLateEvents(batchOf(queries), ends);
    expect(found).toEqual([null, Date.parse('2026-09-03T04:05:00.000Z'), null]);
    expect(sent).toHaveLength(1);
  });

  test('count a text once for a customer, whichever of its keys it came under', async ({
    database,
    clickhouse,
  }) => {
    const uniques = METERS.filter(({ aggregation: { type } }) =>
      AGGREGATIONS[type].values.includes('uniques'),
    );
    const meter = assertPresent(uniques[0], 'a meter of different texts');
    const at = '2026-09-03T04:05:06.000Z';
    const used = (number: number, key: 0 | 1, n: string) => ({
      at,
      customerKey: customerOf(number).keys[key],
      properties: { n },
      countsOn: [meter],
    });
    const events = [used(1, 0, 'a'), used(1, 1, 'a'), used(2, 0, 'a'), used(2, 1, 'b')];
    await storeEvents({ database, clickhouse }, ENVIRONMENT, events);
    const queryOf = (customers: CellQuery['customers']): CellQuery => ({
      customers,
      subject: subjectOf(meter),
      narrowedBy: [],
      sources: null,
      slots: null,
      window: { startMs: START, endMs: START + 20 * DAY_MS },
      split: NO_SPLIT,
      isFirstSlotOnly: false,
    });
    // The last one shares its keys with both others, so it needs a branch of its own.
    const both = { kind: 'only', keys: [...customerOf(1).keys, ...customerOf(2).keys] } as const;
    const reader = createUsageReader(clickhouse.client);
    const countsOf = async (customers: readonly CellQuery['customers'][]) => {
      const found = await reader.read(batchOf(customers.map(queryOf)));
      return assertPresent(found, 'an answer').map((series) =>
        series.flatMap(({ cells }) => cells.map(({ uniqueCount }) => uniqueCount)).filter(Boolean),
      );
    };
    expect(await countsOf([customerOf(1), customerOf(2), customerOf(3)])).toEqual([[1], [2], []]);
    expect(await countsOf([customerOf(1), customerOf(2), both])).toEqual([[1], [2], [2]]);
  });
});
