import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { createCheckpointStore } from '../../../aggregator/checkpoints/checkpoint-store.js';
import { test } from '../../../load-tests/harness/fixtures.js';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { assertPresent } from '../../../runtime/failure.js';
import { EVENT_REMOVAL_LOCK, withAdvisoryLock } from '../../../sql/session.js';
import { whileQuiet } from './quiet-partitions.js';

const PARTITIONS = 6;
const WRITING_MS = 150;

describe('the moment of an erasure', () => {
  test('comes though some batch of many partitions is always under way', async ({
    database: { database, url },
  }) => {
    const store = createCheckpointStore(database, { log: 'log', memberId: 'member' });
    await store.ensure(Array.from({ length: PARTITIONS }, () => 0));
    await ownerOf(database).query(
      sql.type(z.unknown())`UPDATE aggregator_checkpoints SET owner = 'member'`,
    );
    let isWriting = true;
    let finished = 0;
    /** Writes batches of a partition without a pause, and counts those that are not finished. */
    const write = async (partition: number): Promise<void> => {
      const { epoch } = assertPresent(await store.take(partition, 0), 'the row of the owner');
      const intent = { catalogVersion: 1, foldVersion: 1, digest: 'digest' };
      await delay((partition * WRITING_MS) / PARTITIONS);
      for (let start = 0; isWriting; start += 1) {
        const at = { partition, epoch, start };
        const end = start + 1;
        await store.intend([{ ...at, intent: { ...intent, end }, isReplacement: false }]);
        await delay(WRITING_MS);
        await store.finish([{ ...at, end, rows: 1, appendedAtMs: null }]);
        finished += 1;
      }
    };
    const writing = Promise.all(Array.from({ length: PARTITIONS }, (_none, index) => write(index)));
    await delay(3 * WRITING_MS);
    const found = await withAdvisoryLock(url, EVENT_REMOVAL_LOCK, (session) =>
      whileQuiet(
        session,
        async ({ bounds }) => {
          const before = finished;
          await delay(3 * WRITING_MS);
          return { partitions: bounds.length, finishedMeanwhile: finished - before };
        },
        8_000,
      ),
    );
    expect(found).toEqual({ partitions: PARTITIONS, finishedMeanwhile: 0 });
    const before = finished;
    await delay(5 * WRITING_MS);
    expect(finished).toBeGreaterThan(before);
    isWriting = false;
    await writing;
  }, 60_000);
});
