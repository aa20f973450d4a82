import { describe, expect } from 'vitest';
import { eventOf, send, test } from '../../aggregator/testing/aggregator-world.js';
import { refuseUncountedLog } from '../../aggregator/ownership/refuse-uncounted-log.js';
import { finishPartition } from '../../billing-api/testing/finish-partition.js';
import { withSession } from '../../sql/session.js';
import { renewEventLog } from './postgres-tables.js';

describe('the log in PostgreSQL after a restore', () => {
  test('begins at its end when all of it was counted, as when Kafka has replaced it', async ({
    world,
  }) => {
    const { database, reader } = world;
    await send(
      world.writer,
      ['a', 'b', 'c', 'd'].map((id) => eventOf(id)),
    );
    const { logId, partitionCount } = reader.identity;
    const ends: number[] = [];
    for (let partition = 0; partition < partitionCount; partition += 1) {
      const { endOffset } = await reader.bounds(partition);
      ends.push(endOffset);
      if (partition > 0)
        await finishPartition(database, { logId, partition, nextOffset: endOffset });
    }
    const waiting = ends[0] ?? 0;
    expect(waiting).toBeGreaterThan(0);
    const renew = () => withSession(database.url, renewEventLog);
    await renew();
    await expect(refuseUncountedLog(database)).rejects.toThrow(/records of the log in PostgreSQL/);
    const row = await withSession(database.url, async (session) => {
      const { rows } = await session.query<{ log_id: string }>('SELECT log_id FROM event_logs');
      return rows[0]?.log_id ?? '';
    });
    for (const [partition, nextOffset] of ends.entries()) {
      await finishPartition(database, { logId: row, partition, nextOffset });
    }
    await renew();
    await expect(refuseUncountedLog(database)).resolves.toBeUndefined();
  });
});
