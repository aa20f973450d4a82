import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { COUNT_EVENTS, type MeterAggregation } from '../../contract/aggregation.js';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { decodeRecord, type DecodedRecord } from '../fold/candidate.js';
import { encodeBatch, encodeDeltas } from '../fold/encode-rows.js';
import { foldBatch } from '../fold/fold-batch.js';
import { indexMeters } from '../fold/meter-index.js';
import type { UsageDelta } from '../fold/usage-deltas.js';
import { hashText } from '../../runtime/hash-text.js';
import { BACKFILL_INSERT } from '../write/insert-statements.js';
import { insertBatches } from '../write/insert-batches.js';
import { UsageWriter } from '../write/usage-writer.js';
import type { BackfillAttempt, BackfillResult } from './backfill-jobs.js';
import { backfillMeter } from './backfill-meter.js';

const environment = { tenantId: 't1', environmentId: 'e1' };

const AGGREGATIONS: readonly Partial<MeterAggregation>[] = [
  {},
  { groupBy: 'g' },
  { type: 'SUM', field: 'n' },
  { type: 'SUM', expression: 'n * 2 + (g == "x" ? 1 : m)', groupBy: 'm' },
  { type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '0.001' },
  { type: 'AVG', field: 'n', groupBy: 'missing' },
  { type: 'MAX', field: 'n', groupBy: 'g' },
  { type: 'MIN', field: 'n' },
  { type: 'LATEST', field: 'n' },
  { type: 'COUNT_UNIQUE', field: 'n' },
  { type: 'WEIGHTED_SUM', field: 'n' },
];

function attemptOf(
  aggregation: Partial<MeterAggregation>,
  generation: number,
  startOffsets: readonly number[],
): BackfillAttempt {
  return {
    environment,
    meterId: `m${generation % AGGREGATIONS.length}`,
    version: 1,
    eventName: 'request',
    filters: [{ key: 'kind', values: ['a', 'b'] }],
    aggregation: { ...COUNT_EVENTS, ...aggregation },
    generation,
    attempts: 1,
    countsFromMs: null,
    startOffsets: startOffsets.map((liveFrom, partition) => ({ log: 'log', partition, liveFrom })),
  };
}

const numberText = fc.oneof(
  fc.constantFrom('1', '0', '-2.5', '1e30', '1e-30', '0.000000000000000001', 'x', '', '1e999999'),
  fc.integer({ min: -1_000, max: 1_000 }).map(String),
  fc.string({ unit: 'grapheme', maxLength: 4 }),
);
const eventFrom = fc.record({
  name: fc.constantFrom('request', 'request', 'request', 'other'),
  customer: fc.constantFrom('acme', 'b|c', "é'\\"),
  isInternal: fc.boolean(),
  source: fc.constantFrom('', 'web', '\t\n'),
  timestampMs: fc.oneof(
    fc.integer({ min: 0, max: 180_000 }),
    fc.constantFrom(0, 59_999, 60_000, Date.UTC(2150, 0, 1), Date.UTC(2199, 11, 31, 23, 59, 59)),
  ),
  receivedAtMs: fc.integer({ min: 1, max: 3 }),
  properties: fc.record(
    {
      n: numberText,
      m: numberText,
      g: fc.constantFrom('x', 'y', ''),
      kind: fc.constantFrom('a', 'b', 'c'),
    },
    { requiredKeys: ['kind'] },
  ),
});
type Drawn = typeof eventFrom extends fc.Arbitrary<infer Event> ? Event : never;

const SIMPLE: Drawn = {
  name: 'request',
  customer: 'acme',
  isInternal: false,
  source: '',
  timestampMs: 60_000,
  receivedAtMs: 1,
  properties: { kind: 'a' },
};

/** Ids of one length and of many scripts, so that ties are decided beyond the basic plane. */
const ID_SIGNS = ['a', '~', '\uFF5E', '\u{1F600}'];

function recordOf(drawn: Drawn, offset: number, partition = 0): DecodedRecord {
  const event: UsageEvent = {
    eventId: `${ID_SIGNS[offset % ID_SIGNS.length] ?? ''}${partition}-${offset}`,
    eventName: drawn.name,
    externalCustomerId: drawn.isInternal ? null : drawn.customer,
    customerId: drawn.isInternal ? drawn.customer : null,
    source: drawn.source,
    timestampMs: drawn.timestampMs,
    isTimestampGiven: true,
    properties: drawn.properties,
  };
  const value = encodeEventRecord({
    environment,
    receivedAtMs: drawn.receivedAtMs,
    events: [event],
  });
  return decodeRecord({ offset, appendedAtMs: 9, value }, hashText);
}

/** Stores events as the live stream does, without any meter. */
async function store(client: ClickHouse, partition: number, records: readonly DecodedRecord[]) {
  const range = { logId: 'log', partition, start: 0, end: records.length };
  const folded = foldBatch(records, new Map(), indexMeters([], hashText));
  await new UsageWriter(client, 'log', partition).raiseGate(1);
  const batch = { range, encoded: encodeBatch(range, folded) };
  await insertBatches(client, 'events', [{ epoch: 1, batch }]);
}

const READ = `SELECT meter_id, customer_key, toString(minute) AS minute, source, group_key,
    sum(event_count) AS events, sum(unreadable_count) AS unreadable,
    toString(sum(value_sum)) AS value_sum, toString(sum(value_time_sum)) AS value_time_sum,
    toString(max(value_max)) AS value_max, toString(max(latest)) AS last,
    toString(min(value_min)) AS value_min,
    arraySort(arrayMap(text -> lower(hex(text)), groupUniqArrayArray(uniques))) AS texts
  FROM usage_minute_v1
  WHERE generation >= {from:UInt64} AND generation < {from:UInt64} + ${AGGREGATIONS.length}
  GROUP BY meter_id, customer_key, minute, source, group_key
  ORDER BY meter_id, customer_key, minute, source, group_key`;

/** All cells of a set of generations that begins with one. */
function cellsOf(client: ClickHouse, from: number): Promise<unknown[]> {
  return client.query(READ, { from }, z.unknown());
}

async function insertLive(client: ClickHouse, deltas: readonly UsageDelta[]): Promise<void> {
  if (deltas.length === 0) return;
  const body = [encodeDeltas(deltas).bytes];
  await client.insertText({ query: BACKFILL_INSERT, body, queryId: `test:${randomUUID()}` });
}

/** Of two partitions anything, nothing included; of a third so much that there is work to do. */
const perPartition = <Value>(anything: fc.Arbitrary<Value>, enough: fc.Arbitrary<Value>) =>
  fc.tuple(anything, anything, enough).map((values): readonly Value[] => values);

describe('backfillMeter', () => {
  test('makes the cells that the live stream would have made: every type, start offset and page size', async ({
    clickhouse: { client },
  }) => {
    let generation = 0;
    const seen = { cells: 0, pages: 0 };
    await fc.assert(
      fc.asyncProperty(
        perPartition(
          fc.array(eventFrom, { maxLength: 25 }),
          fc.array(eventFrom, { minLength: 15, maxLength: 25 }),
        ),
        perPartition(fc.integer({ min: 0, max: 26 }), fc.integer({ min: 12, max: 26 })),
        fc.integer({ min: 6, max: 60 }),
        async (drawn, startOffsets, pageEvents) => {
          const [live, filled] = [generation, generation + AGGREGATIONS.length];
          generation = filled + AGGREGATIONS.length;
          await client.command('TRUNCATE TABLE events_v1');
          const partitions = drawn.map((events, partition) =>
            events.map((event, offset) => recordOf(event, offset, partition)),
          );
          for (const [partition, records] of partitions.entries()) {
            await store(client, partition, records);
          }
          const attempts = AGGREGATIONS.map((aggregation, index) =>
            attemptOf(aggregation, filled + index, startOffsets),
          );
          const meters = attempts.map((attempt, index) => ({
            ...attempt,
            generation: live + index,
          }));
          const below = partitions.flatMap((records, index) =>
            records.slice(0, startOffsets[index]),
          );
          const folded = foldBatch(below, new Map(), indexMeters(meters, hashText));
          await insertLive(client, folded.deltas);
          const eventsScanned = folded.unique.filter(
            ({ event }) => event.eventName === 'request',
          ).length;
          for (const attempt of attempts) {
            const progress: BackfillResult[] = [];
            const result = await backfillMeter(client, attempt, {
              progress: (_, reached) => void progress.push(reached),
              signal: new AbortController().signal,
              pageEvents,
            });
            expect(result).toEqual({ eventsScanned, eventsMatched: folded.countedEvents });
            expect(progress).toHaveLength(Math.ceil(eventsScanned / pageEvents));
            seen.pages += progress.length;
          }
          const cells = await cellsOf(client, filled);
          expect(cells).toEqual(await cellsOf(client, live));
          seen.cells += cells.length;
        },
      ),
      { numRuns: 3 },
    );
    // A property over nothing would hold, too.
    expect(seen.cells).toBeGreaterThan(40);
    expect(seen.pages).toBeGreaterThan(10);
  }, 300_000);

  test('reads every event once in pages of one, whatever they have in common', async ({
    clickhouse: { client },
  }) => {
    const value = (offset: number): string => {
      const { candidates } = recordOf(SIMPLE, offset);
      const events = candidates.flatMap(({ event }) => [
        { ...event, eventId: `${event.eventId}-1` },
        { ...event, eventId: `${event.eventId}-2` },
      ]);
      return encodeEventRecord({ environment, receivedAtMs: 1, events });
    };
    for (const partition of [0, 1]) {
      const records = [0, 1].map((offset) =>
        decodeRecord({ offset, appendedAtMs: 9, value: value(offset) }, hashText),
      );
      await store(client, partition, records);
    }
    const result = await backfillMeter(client, attemptOf({}, 1, [2, 2]), {
      progress: () => undefined,
      signal: new AbortController().signal,
      pageEvents: 1,
    });
    expect(result).toEqual({ eventsScanned: 8, eventsMatched: 8 });
    expect(await cellsOf(client, 1)).toMatchObject([
      { events: '8', minute: '1970-01-01 00:01:00' },
    ]);
  });

  test('stops when it is told to', async ({ clickhouse: { client } }) => {
    const records = [0, 1].map((offset) => recordOf(SIMPLE, offset));
    await store(client, 0, records);
    const stop = new AbortController();
    const backfill = backfillMeter(client, attemptOf({}, 1, [2]), {
      progress: () => stop.abort(new Error('told to stop')),
      signal: stop.signal,
      pageEvents: 1,
    });
    await expect(backfill).rejects.toThrow('told to stop');
  });

  test('tells a hundred thousand texts of one minute apart', async ({ clickhouse: { client } }) => {
    await client.command(
      `INSERT INTO events_v1 (tenant_id, environment_id, event_name, customer_key, timestamp,
         event_id, properties, received_at, log_id, log_partition, log_offset, appended_at)
       SELECT 't1', 'e1', 'request', 'e:acme', fromUnixTimestamp64Milli(60000, 'UTC'),
         toString(number), map('kind', 'a', 'n', concat('user-', toString(number))),
         fromUnixTimestamp64Milli(1, 'UTC'), 'log', 0, number, fromUnixTimestamp64Milli(9, 'UTC')
       FROM numbers(100000)`,
    );
    await backfillMeter(client, attemptOf({ type: 'COUNT_UNIQUE', field: 'n' }, 1, [100_000]), {
      progress: () => undefined,
      signal: new AbortController().signal,
      pageEvents: 30_000,
    });
    const [cell] = await client.query(
      'SELECT length(groupUniqArrayArray(uniques)) AS texts FROM usage_minute_v1',
      {},
      z.object({ texts: z.coerce.number() }),
    );
    expect(cell).toEqual({ texts: 100_000 });
  });
});
