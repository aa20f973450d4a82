import { describe, expect } from 'vitest';
import { z } from 'zod';
import { encodeEventRecord } from '../../contract/usage-event.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { hashText } from '../../runtime/hash-text.js';
import { decodeRecord } from '../fold/candidate.js';
import { encodeBatch } from '../fold/encode-rows.js';
import { foldBatch } from '../fold/fold-batch.js';
import { indexMeters } from '../fold/meter-index.js';
import type { Checkpoint } from '../protocol/state.js';
import { environment, eventOf } from '../testing/aggregator-world.js';
import { insertBatches } from './insert-batches.js';
import { IdLookUps } from './id-look-ups.js';
import { UsageWriter } from './usage-writer.js';

const EPOCH = 1;
const AUGUST = Date.UTC(2026, 7, 31, 23, 59, 59, 999);
const OCTOBER = Date.UTC(2026, 9, 1);
const NOVEMBER = Date.UTC(2026, 10, 1);

type Stored = {
  readonly start: number;
  readonly ids: readonly string[];
  readonly appendedAtMs: number;
};

/** The owner of partition 0. */
async function ownerOf(clickhouse: ClickHouse): Promise<UsageWriter> {
  const writer = new UsageWriter(clickhouse, 'log', 0);
  await writer.raiseGate(EPOCH);
  return writer;
}

/** Writes a batch of one record into these tables; returns its range. */
async function write(
  client: ClickHouse,
  { start, ids, appendedAtMs }: Stored,
  tables: readonly ('events' | 'ids' | 'usage')[] = ['events', 'ids', 'usage'],
) {
  const events = ids.map((id) => eventOf(id));
  const value = encodeEventRecord({ environment, receivedAtMs: appendedAtMs, events });
  const records = [decodeRecord({ offset: start, appendedAtMs, value }, hashText)];
  const range = { logId: 'log', partition: 0, start, end: start + 1 };
  const encoded = encodeBatch(range, foldBatch(records, new Map(), indexMeters([], hashText)));
  for (const table of tables) {
    const sent = await insertBatches(client, table, [{ epoch: EPOCH, batch: { range, encoded } }]);
    expect(sent.outcome).toBe('inserted');
  }
  return range;
}

const checkpoint = (nextOffset: number, lastBatch: Checkpoint['lastBatch']): Checkpoint => ({
  epoch: EPOCH,
  nextOffset,
  intent: null,
  minVersion: 1,
  catalogVersion: 1,
  lastBatch,
});

describe('the presence of a batch', () => {
  const BATCH = { start: 7, ids: ['a', 'b'] };

  test('is asked of the months from its append on, and of no earlier one', async ({
    clickhouse: { client },
  }) => {
    const writer = await ownerOf(client);
    const range = await write(client, { ...BATCH, appendedAtMs: AUGUST });
    const nothing = { events: 0, ids: 0, marker: 1 };
    expect(await writer.presence(range, NOVEMBER)).toEqual(nothing);
    // A day of clocks that differ: the month before is asked too.
    expect(await writer.presence(range, OCTOBER)).toEqual(nothing);
    expect(await writer.presence(range, Date.UTC(2026, 8, 1))).toEqual({
      ...nothing,
      events: 2,
      ids: 2,
    });
    expect(await writer.presence(range, AUGUST)).toEqual({ ...nothing, events: 2, ids: 2 });
    expect(await writer.presence(range, 0)).toEqual({ ...nothing, events: 2, ids: 2 });
  });

  test('is asked of every month when nobody knows its append', async ({
    clickhouse: { client },
  }) => {
    const writer = await ownerOf(client);
    const range = await write(client, { ...BATCH, appendedAtMs: AUGUST });
    expect(await writer.presence(range, null)).toEqual({ events: 2, ids: 2, marker: 1 });
  });
});

describe('the marker of a partition', () => {
  const batchAt = (start: number, appendedAtMs: number) => ({
    start,
    ids: [`${start}`],
    appendedAtMs,
  });

  test('is one row however many batches are written, and tells of the last whether it is there', async ({
    clickhouse: { client },
  }) => {
    const writer = await ownerOf(client);
    const markerOf = async (start: number): Promise<number> => {
      const range = { logId: 'log', partition: 0, start, end: start + 1 };
      return (await writer.presence(range, null)).marker;
    };
    for (let start = 5; start < 25; start += 1) {
      expect(await markerOf(start)).toBe(0);
      await write(client, batchAt(start, AUGUST), ['usage']);
      expect([await markerOf(start), await markerOf(start + 1)]).toEqual([1, 0]);
    }
    await client.command('OPTIMIZE TABLE usage_minute_v1 FINAL');
    expect([await markerOf(24), await markerOf(25)]).toEqual([1, 0]);
    const rows = await client.query(
      `SELECT meter_id, toString(count()) AS rows, toString(sum(event_count)) AS sum
       FROM usage_minute_v1 GROUP BY meter_id ORDER BY meter_id`,
      {},
      z.object({ meter_id: z.string(), rows: z.string(), sum: z.string() }),
    );
    expect(rows).toEqual([
      { meter_id: '#accepted', rows: '1', sum: '20' },
      { meter_id: '#batch', rows: '1', sum: '20' },
    ]);
    // No insert writes them again: they are refused.
    await client.command('INSERT INTO usage_minute_v1 SELECT * FROM usage_minute_v1');
    expect(await markerOf(24)).toBe(2);
  });

  test('of a release whose markers did not merge tells of its own batch', async ({
    clickhouse: { client },
  }) => {
    const writer = await ownerOf(client);
    await client.command(`INSERT INTO usage_minute_v1 (meter_id, minute, source, group_key, event_count)
      VALUES ('#batch', 0, 'log:0', '3:5', 1)`);
    const of = { logId: 'log', partition: 0 };
    expect((await writer.presence({ ...of, start: 3, end: 5 }, null)).marker).toBe(1);
    expect((await writer.presence({ ...of, start: 5, end: 6 }, null)).marker).toBe(0);
    await write(client, batchAt(5, AUGUST), ['usage']);
    expect((await writer.presence({ ...of, start: 3, end: 5 }, null)).marker).toBe(1);
    expect((await writer.presence({ ...of, start: 5, end: 6 }, null)).marker).toBe(1);
  });
});

describe('the inspection at a take', () => {
  test('finds the last batch, and rows beyond it in its month and in later ones', async ({
    clickhouse: { client },
  }) => {
    const writer = await ownerOf(client);
    await write(client, { start: 0, ids: ['a', 'b'], appendedAtMs: OCTOBER });
    const row = checkpoint(1, { start: 0, rows: 2, erased: 0, appendedAtMs: OCTOBER });
    const lastBatch = { events: 2, ids: 2, marker: 1 };
    expect(await writer.inspect(row)).toEqual({ rowsBeyond: 0, lastBatch });
    await write(client, { start: 1, ids: ['c'], appendedAtMs: OCTOBER }, ['ids']);
    await write(client, { start: 2, ids: ['d'], appendedAtMs: NOVEMBER }, ['events']);
    expect(await writer.inspect(row)).toEqual({ rowsBeyond: 2, lastBatch });
  });

  test('does not read the months before the last batch', async ({ clickhouse: { client } }) => {
    const writer = await ownerOf(client);
    await write(client, { start: 9, ids: ['z'], appendedAtMs: AUGUST }, ['events', 'ids']);
    const row = checkpoint(1, { start: 0, rows: 0, erased: 0, appendedAtMs: NOVEMBER });
    expect((await writer.inspect(row)).rowsBeyond).toBe(0);
    const unknown = checkpoint(1, { start: 0, rows: 0, erased: 0, appendedAtMs: null });
    expect((await writer.inspect(unknown)).rowsBeyond).toBe(2);
  });
});

describe('the look-up of ids', () => {
  test('finds an id of any month and of an earlier log', async ({ clickhouse: { client } }) => {
    await ownerOf(client);
    await write(client, { start: 0, ids: ['old'], appendedAtMs: AUGUST }, ['ids']);
    await write(client, { start: 1, ids: ['new'], appendedAtMs: NOVEMBER }, ['ids']);
    const hashes = ['old', 'new', 'never'].map((id) =>
      hashText(`${environment.tenantId}|${environment.environmentId}|${id}`),
    );
    const found = async (below: number, appendedAtMs: number, logId = 'log') => {
      const question = { partition: 0, idHashes: hashes, below, appendedAtMs };
      return [...(await new IdLookUps(client, logId).find(question)).keys()].sort();
    };
    // Whatever the time of the batch: it only says where to look first.
    for (const appendedAtMs of [0, AUGUST, OCTOBER, NOVEMBER, Date.UTC(2030, 0)]) {
      expect(await found(2, appendedAtMs)).toEqual(hashes.slice(0, 2).sort());
      expect(await found(1, appendedAtMs)).toEqual([hashes[0]]);
      expect(await found(0, appendedAtMs, 'next log')).toHaveLength(2);
    }
  });
});
