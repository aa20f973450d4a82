import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { encodeEventRecord } from '../../contract/usage-event.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { hashText } from '../../runtime/hash-text.js';
import { integerColumn } from '../../sql/columns.js';
import { decodeRecord } from '../fold/candidate.js';
import { encodeBatch } from '../fold/encode-rows.js';
import { foldBatch } from '../fold/fold-batch.js';
import { insertBatches } from './insert-batches.js';
import { UsageWriter } from './usage-writer.js';

/** Runs for a minute, and can be ended after every second. */
const SLOW = 'SELECT sleepEachRow(1) FROM numbers(60) SETTINGS max_block_size = 1';
const foundRow = z.object({ found: integerColumn });

/** A batch of one event of a partition. */
function batchOf(partition: number, epoch: number) {
  const value = encodeEventRecord({
    environment: { tenantId: 't1', environmentId: 'e1' },
    receivedAtMs: 5,
    events: [
      {
        eventId: `id${partition}`,
        eventName: 'request',
        externalCustomerId: 'acme',
        customerId: null,
        source: '',
        timestampMs: 60_000,
        isTimestampGiven: true,
        properties: {},
      },
    ],
  });
  const records = [decodeRecord({ offset: 0, appendedAtMs: 9, value }, hashText)];
  const range = { logId: 'log', partition, start: 0, end: 1 };
  return {
    epoch,
    batch: { range, encoded: encodeBatch(range, foldBatch(records, new Map(), new Map())) },
  };
}

async function partsOfEvents(client: ClickHouse): Promise<readonly number[]> {
  const rows = await client.query(
    `SELECT toString(rows) AS found FROM system.parts
     WHERE database = currentDatabase() AND table = 'events_v1' AND active`,
    {},
    foundRow,
  );
  return rows.map(({ found }) => found);
}

describe('an insert of several partitions', () => {
  test('is one part', async ({ clickhouse: { client } }) => {
    for (const partition of [0, 1, 11]) {
      await new UsageWriter(client, 'log', partition).raiseGate(partition + 1);
    }
    const batches = [batchOf(11, 12), batchOf(0, 1), batchOf(1, 2)];
    expect(await insertBatches(client, 'events', batches)).toEqual({ outcome: 'inserted' });
    expect(await partsOfEvents(client)).toEqual([3]);
  });

  test.for([
    ['was taken by another process', [1, 3]],
    ['has no gate', [1, null]],
    ['had a gate that is older', [1, 1]],
  ] as const)(
    'writes nothing when one of them %s',
    async ([, gates], { clickhouse: { client } }) => {
      for (const [partition, epoch] of gates.entries()) {
        if (epoch !== null) await new UsageWriter(client, 'log', partition).raiseGate(epoch);
      }
      const batches = [batchOf(0, 1), batchOf(1, 2)];
      expect(await insertBatches(client, 'events', batches)).toEqual({ outcome: 'fenced' });
      expect(await partsOfEvents(client)).toEqual([]);
    },
  );

  test('is refused when it comes again under the same epochs', async ({
    clickhouse: { client },
  }) => {
    const batches = [batchOf(0, 1), batchOf(1, 2)];
    const writers = batches.map(
      ({ batch }) => new UsageWriter(client, 'log', batch.range.partition),
    );
    for (const [index, writer] of writers.entries()) await writer.raiseGate(index + 1);
    for (const table of ['events', 'ids', 'usage'] as const) {
      expect(await insertBatches(client, table, batches)).toEqual({ outcome: 'inserted' });
      expect(await insertBatches(client, table, batches)).toEqual({ outcome: 'repeated' });
    }
    // Usage is there for one of them only: the other is refused with it.
    const next = {
      ...batchOf(1, 2).batch,
      range: { ...batchOf(1, 2).batch.range, start: 1, end: 2 },
    };
    const mixed = [batchOf(0, 1), { epoch: 2, batch: next }];
    expect(await insertBatches(client, 'usage', mixed)).toEqual({ outcome: 'repeated' });
    for (const [index, writer] of writers.entries()) {
      const { range } = batches[index]?.batch ?? next;
      expect(await writer.presence(range, 9)).toEqual({ events: 1, ids: 1, marker: 1 });
    }
  });

  test.for([1, 12, 3])(
    'is ended by the drain of partition %i',
    async (partition, { clickhouse }) => {
      const { client } = clickhouse;
      // Stands for an insert: the drain goes by the id alone. Of a log of its own, since tests
      // share the server.
      const running = client
        .command(SLOW, {}, `mb:drained:,1.4,12.9,3.1,:${partition}`)
        .then(() => 'done')
        .catch(() => 'ended');
      const countRunning = async (): Promise<number> => {
        const [row] = await client.query(
          `SELECT count() AS found FROM system.processes WHERE startsWith(query_id, 'mb:drained:')`,
          {},
          foundRow,
        );
        return row?.found ?? 0;
      };
      await expect.poll(countRunning).toBe(1);
      // Others, of which one has a number that begins alike, end nothing.
      await new UsageWriter(client, 'drained', 2).drain();
      await new UsageWriter(client, 'other-log', partition).drain();
      await delay(100);
      expect(await countRunning()).toBe(1);
      await new UsageWriter(client, 'drained', partition).drain();
      expect(await countRunning()).toBe(0);
      expect(await running).toBe('ended');
    },
  );
});
