import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { messageOf } from '../../../../runtime/failure.js';
import { integerColumn } from '../../../../sql/columns.js';
import type { World } from '../world/world.js';
import { withPatientSession } from '../../../harness/patient-session.js';

const POLL_MS = 150;

const progressRow = z.object({
  partition: z.number(),
  next_offset: integerColumn,
  is_pending: z.boolean(),
  backfills: integerColumn,
});

/** What is still to be done, in words; null when the world is at rest. */
async function findUnfinished(world: World): Promise<string | null> {
  const reader = await world.logReader();
  const { logId, partitionCount } = reader.identity;
  const rows = await withPatientSession(world.stores.databaseUrl, async (session) => {
    const result = await session.query(
      `SELECT partition, next_offset::text, intent_end IS NOT NULL AS is_pending,
              (SELECT count(*) FROM meter_backfills WHERE status = 'running')::text AS backfills
       FROM aggregator_checkpoints WHERE log = $1`,
      [logId],
    );
    return z.array(progressRow).parse(result.rows);
  });
  if (rows.length < partitionCount) return 'no checkpoints yet';
  if (rows.some((row) => row.backfills > 0)) return 'a backfill runs';
  for (const row of rows) {
    const { endOffset } = await reader.bounds(row.partition);
    if (row.is_pending || row.next_offset < endOffset) {
      return `partition ${row.partition} stands at ${row.next_offset} of ${endOffset}`;
    }
  }
  return null;
}

/** Why a partition stopped for an operator, which no fault of ours may cause; null if none did. */
export function findHalt(world: World): string | null {
  const reason = world.haltReasons[0];
  return reason === undefined ? null : `a partition halted: ${reason}`;
}

/**
 * Waits until the log is consumed and every backfill is through. Null then; otherwise why not: a
 * partition halted, a program crashed, or the time is over.
 */
export async function settle(world: World, timeoutMs: number): Promise<string | null> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const halt = findHalt(world);
    if (halt !== null) return halt;
    if (world.unexpectedEnds.length > 0) return 'not settled: a program crashed';
    const unfinished = await findUnfinished(world).catch(messageOf);
    if (unfinished === null) return null;
    if (Date.now() > deadline) return `not settled: ${unfinished}`;
    await delay(POLL_MS);
  }
}
