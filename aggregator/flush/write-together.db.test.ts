import { describe, expect } from 'vitest';
import { z } from 'zod';
import { createClickHouse, type ClickHouse } from '../../clickhouse/client.js';
import { encodeEventRecord } from '../../contract/usage-event.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { hashText } from '../../runtime/hash-text.js';
import { decodeRecord } from '../fold/candidate.js';
import { INSERT_STAGES } from '../fold/batch-tables.js';
import { indexMeters } from '../fold/meter-index.js';
import { createCheckpointStore } from '../checkpoints/checkpoint-store.js';
import { completeBatch, prepareBatch } from '../protocol/build-batch.js';
import { EVENT, settings } from '../testing/protocol-steps.js';
import { UsageWriter } from '../write/usage-writer.js';
import type { Writing } from './flush.js';
import { createWriteTogether } from './write-together.js';

const LAST_OF_OCTOBER = Date.UTC(2026, 9, 31, 23, 59, 59, 999);
const FIRST_OF_NOVEMBER = Date.UTC(2026, 10, 1);
const EPOCH = 1;

/** A batch of a partition: an event, and a duplicate of it. */
function batchOf(partition: number, appendedAtMs: number) {
  const event = { ...EVENT, eventId: `id-${partition}` };
  const environment = { tenantId: 't', environmentId: 'e' };
  const value = encodeEventRecord({ environment, receivedAtMs: 0, events: [event, event] });
  const records = [decodeRecord({ offset: 0, appendedAtMs, value }, hashText)];
  const draft = { records, catalog: { version: 1, meters: indexMeters([], hashText) }, end: 1 };
  const prepared = prepareBatch({ ...settings, partition }, 0, { draft, seen: new Map() });
  const batch = completeBatch(settings, prepared);
  if (typeof batch === 'string') throw new Error(batch);
  return batch;
}

/** Refuses an insert with rows of two months, which would be two parts of its table. */
function strictClient(url: string): ClickHouse {
  const strict = new URL(url);
  strict.searchParams.set('ch_max_partitions_per_insert_block', '1');
  return createClickHouse(strict.href);
}

describe('a flush whose records were appended before and after midnight', () => {
  const batches = [
    batchOf(0, LAST_OF_OCTOBER),
    batchOf(1, FIRST_OF_NOVEMBER),
    batchOf(2, LAST_OF_OCTOBER),
  ];

  test.for([
    ['all of them are present', [EPOCH, EPOCH, EPOCH], ['inserted', 'inserted', 'inserted']],
    // Of the two that share an insert, nobody knows which one is old.
    [
      'none of a day is, when one of them is old',
      [2, EPOCH, EPOCH],
      ['unknown', 'inserted', 'unknown'],
    ],
    [
      'the other day is, when the only one of its day is old',
      [EPOCH, 2, EPOCH],
      ['inserted', 'fenced', 'inserted'],
    ],
  ] as const)(
    'writes each day by itself: %s',
    async ([, gates, expected], { clickhouse, database: { database } }) => {
      const client = strictClient(clickhouse.url);
      const checkpoints = createCheckpointStore(database, { log: 'log', memberId: 'member' });
      const writeTogether = createWriteTogether({ checkpoints, clickhouse: client });
      for (const [partition, epoch] of gates.entries()) {
        await new UsageWriter(client, 'log', partition).raiseGate(epoch);
      }
      for (const tables of INSERT_STAGES) {
        const writings = batches.map((batch): Writing => {
          const command = { kind: 'insert', epoch: EPOCH, batch, tables } as const;
          return { partition: batch.range.partition, command };
        });
        const performed = await writeTogether(writings);
        const kinds = batches.map(({ range }) => performed.get(range.partition)?.outcome.kind);
        expect(kinds).toEqual(expected);
      }
      for (const [partition, { range, appendedAtMs }] of batches.entries()) {
        const found = await new UsageWriter(client, 'log', partition).presence(range, appendedAtMs);
        const rows = expected[partition] === 'inserted' ? 1 : 0;
        expect(found).toEqual({ events: rows, ids: rows, marker: rows });
      }
      const duplicates = await client.query(
        'SELECT toUInt32(log_partition) AS p FROM event_duplicates_v1 ORDER BY p',
        {},
        z.object({ p: z.number() }),
      );
      const written = [0, 1, 2].filter((partition) => expected[partition] === 'inserted');
      expect(duplicates.map(({ p }) => p)).toEqual(written);
      await client.close();
    },
  );
});
