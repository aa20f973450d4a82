import { describe, expect } from 'vitest';
import { z } from 'zod';
import { COUNT_EVENTS, type MeterAggregation } from '../../contract/aggregation.js';
import type { MeterDefinition } from '../../contract/meter.js';
import { recordsOfEvents } from '../../contract/records-of-events.js';
import type { UsageEvent } from '../../contract/usage-event.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { decodeRecord } from '../fold/candidate.js';
import { BATCH_TABLES, TABLES } from '../fold/batch-tables.js';
import { encodeBatch } from '../fold/encode-rows.js';
import { foldBatch } from '../fold/fold-batch.js';
import { indexMeters } from '../fold/meter-index.js';
import { hashText } from '../../runtime/hash-text.js';
import { insertBatches } from './insert-batches.js';
import { UsageWriter } from './usage-writer.js';

const environment = { tenantId: 't1', environmentId: 'e1' };

function meterOf(
  meterId: string,
  generation: number,
  aggregation: Partial<MeterAggregation>,
): MeterDefinition {
  return {
    environment,
    meterId,
    version: 1,
    eventName: 'request',
    filters: [],
    aggregation: { ...COUNT_EVENTS, ...aggregation },
    generation,
  };
}

const METERS = indexMeters(
  [
    meterOf('average', 1, { type: 'AVG', field: 'n' }),
    meterOf('count', 2, {}),
    meterOf('latest', 3, { type: 'LATEST', field: 'n' }),
    meterOf('level', 4, { type: 'WEIGHTED_SUM', field: 'n' }),
    meterOf('max', 5, { type: 'MAX', field: 'n', groupBy: 'g' }),
    meterOf('unique', 6, { type: 'COUNT_UNIQUE', field: 'n' }),
    meterOf('min', 7, { type: 'MIN', field: 'n' }),
  ],
  hashText,
);

const TEXTS = [
  '999999999999999999999999999999999999999.999999999999999999',
  '0.000000000000000001',
  '1e38',
  'none',
];
const EVENTS = TEXTS.map((n, index): UsageEvent => ({
  eventId: `id${index}`,
  eventName: 'request',
  externalCustomerId: 'acme',
  customerId: null,
  source: 'web',
  timestampMs: Date.UTC(2199, 11, 31, 23, 59, 59, 999),
  isTimestampGiven: true,
  properties: { n, g: `"\\\t\n${index}` },
}));

/** A batch of one record with these events, as the aggregator sends it. */
function batchAt(first: number, events: readonly UsageEvent[]) {
  const context = { environment, receivedAtMs: 5, partitionCount: 1 };
  const records = recordsOfEvents(events, context).map(({ value }, index) =>
    decodeRecord({ offset: first + index, appendedAtMs: 9, value }, hashText),
  );
  const range = { logId: 'log', partition: 0, start: first, end: first + records.length };
  const encoded = encodeBatch(range, foldBatch(records, new Map(), METERS));
  return { epoch: 1, batch: { range, encoded } };
}

const READ = `SELECT meter_id, group_key, sum(event_count) AS events,
    sum(unreadable_count) AS unreadable, toString(sum(value_sum)) AS value_sum,
    toString(sum(value_time_sum)) AS value_time_sum, toString(max(value_max)) AS value_max,
    toString(min(value_min)) AS value_min, tupleElement(max(latest), 'event_id') AS latest_id,
    toString(tupleElement(max(latest), 'value')) AS latest_value,
    arraySort(arrayMap(text -> lower(hex(text)), groupUniqArrayArray(uniques))) AS uniques
  FROM usage_minute_v1 WHERE tenant_id = 't1' GROUP BY meter_id, group_key
  ORDER BY meter_id, group_key`;
const readRow = z.object({ meter_id: z.string(), group_key: z.string() }).passthrough();

describe('the insert of a batch', () => {
  test.for(BATCH_TABLES)('names every column of the table of %s', async (name, { clickhouse }) => {
    const { table, columns } = TABLES[name];
    const found = await clickhouse.client.query(
      `SELECT name FROM system.columns
       WHERE database = currentDatabase() AND table = {table:String}`,
      { table },
      z.object({ name: z.string() }),
    );
    const sorted = (names: readonly { readonly name: string }[]): readonly string[] =>
      names.map((column) => column.name).sort();
    expect(sorted(columns)).toEqual(sorted(found));
  });
});

describe('the insert of usage', () => {
  test('brings every column of a delta into the table exactly', async ({ clickhouse }) => {
    await new UsageWriter(clickhouse.client, 'log', 0).raiseGate(1);
    // In two batches, so that rows of one minute meet in the table.
    for (const [offset, events] of [EVENTS.slice(0, 2), EVENTS.slice(2)].entries()) {
      const sent = await insertBatches(clickhouse.client, 'usage', [batchAt(offset, events)]);
      expect(sent.outcome).toBe('inserted');
    }
    const rows = await clickhouse.client.query(READ, {}, readRow);
    const sum = '1100000000000000000000000000000000000000';
    const timeSum = '65998900000000000000000000000000000000000000';
    const accepted = rows.filter((row) => row.meter_id === '#accepted');
    expect(accepted).toMatchObject([{ group_key: '', events: '4', value_max: '2' }]);
    expect(rows.find((row) => row.meter_id === 'count')).toMatchObject({ events: '4' });
    expect(rows.find((row) => row.meter_id === 'average')).toMatchObject({
      events: '4',
      unreadable: '1',
      value_sum: sum,
    });
    expect(rows.find((row) => row.meter_id === 'level')).toMatchObject({
      value_sum: sum,
      value_time_sum: timeSum,
    });
    expect(rows.find((row) => row.meter_id === 'latest')).toMatchObject({
      latest_id: 'id3',
      latest_value: '0',
    });
    expect(rows.find((row) => row.meter_id === 'unique')).toMatchObject({
      uniques: TEXTS.map(hashText).sort(),
    });
    expect(rows.find((row) => row.meter_id === 'min')).toMatchObject({
      unreadable: '1',
      value_min: TEXTS[1],
    });
    const others = rows.filter((row) => row.meter_id !== 'min');
    expect(others.every((row) => row['value_min'] === null)).toBe(true);
    const groups = rows.filter((row) => row.meter_id === 'max');
    expect(groups.map((row) => [row.group_key, row['value_max']])).toEqual([
      ['"\\\t\n0', TEXTS[0]],
      ['"\\\t\n1', TEXTS[1]],
      ['"\\\t\n2', `1${'0'.repeat(38)}`],
      ['"\\\t\n3', '0'],
    ]);
  });

  test('makes few parts of ten thousand sources and of every month to 2199', async ({
    clickhouse,
  }) => {
    await new UsageWriter(clickhouse.client, 'log', 0).raiseGate(1);
    const events = Array.from({ length: 10_000 }, (_, index): UsageEvent => {
      const timestampMs = Date.UTC(1970, index % 2_760, 1 + (index % 28), index % 24);
      return {
        ...EVENTS[0],
        eventId: `e${index}`,
        source: `source-${index}`,
        timestampMs,
      } as UsageEvent;
    });
    const batch = batchAt(0, events);
    for (const table of ['events', 'ids', 'usage'] as const) {
      await insertBatches(clickhouse.client, table, [batch]);
    }
    const parts = await clickhouse.client.query(
      `SELECT table, toString(sum(rows)) AS rows, toString(count()) AS parts FROM system.parts
       WHERE database = currentDatabase() AND active AND table != 'schema_migrations'
         AND table != 'ingest_gate_v1'
       GROUP BY table ORDER BY table`,
      {},
      z.object({ table: z.string(), rows: z.string(), parts: z.string() }),
    );
    // One row a meter and event, the group of MAX being the same in all, the count and the marker.
    expect(parts).toEqual([
      { table: 'event_ids_v1', rows: '10000', parts: '1' },
      { table: 'events_v1', rows: '10000', parts: '1' },
      { table: 'usage_minute_v1', rows: '70002', parts: '1' },
    ]);
  });
});
