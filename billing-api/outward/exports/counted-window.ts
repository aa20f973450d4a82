import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { integerColumn, noRows } from '../../../sql/columns.js';
import {
  TASKS,
  type CountedWindow,
  type TaskRow,
} from '../../declarations/exports/task.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { mustWrite, type Unit } from '../../records/unit.js';
import { findCheckpoints } from '../../usage/watermark/checkpoints.js';
import type { ExportNeeds } from './export-needs.js';

/** Windows whose counts are fixed at once: more than seven days of quarters of an hour. */
const WINDOWS_MAX = 1_000;

/** What files of money are read from: these entries are in the order of their commits. */
const AUDITED_EXPORTS = ['invoice', 'wallet_transaction'];

const fixedRow = z.object({ counted: TASKS.columns.counted.schema });

/** The file before this one, if it was exported as a window of the same length. */
async function countedBefore({ tx }: Unit, task: TaskRow): Promise<CountedWindow | null> {
  const length = task.end_time - task.start_time;
  const row = await tx.maybeOne(sql.type(fixedRow)`
    SELECT counted FROM tasks
    WHERE scheduled_task_id = ${task.scheduled_task_id}
      AND start_time = ${formatInstant(task.start_time - length)}::timestamptz
      AND end_time = ${formatInstant(task.start_time)}::timestamptz AND ${isOfEnvironment}`);
  return row?.counted ?? null;
}

/** An export that waits longer fails and is tried again: who waits for it would stand still. */
const LOCK_WAIT = '2s';

const lastEntryRow = z.object({ last_entry: integerColumn });

/**
 * The last entry of the audit trail. Every entry up to it is committed, and every later one gets a
 * greater number: who writes entries holds the lock shared until the end.
 */
async function readLastEntry({ tx }: Unit): Promise<number> {
  await tx.query(sql.type(noRows)`SELECT FROM set_config('lock_timeout', ${LOCK_WAIT}, true)`);
  await tx.query(sql.type(noRows)`SELECT FROM pg_advisory_xact_lock(audit_trail_lock())`);
  const { last_entry: last } = await tx.one(sql.type(lastEntryRow)`
    SELECT coalesce(max(entry_number), 0) AS last_entry FROM audit_entries
    WHERE entity_type = ANY (${sql.array(AUDITED_EXPORTS, 'text')}) AND ${isOfEnvironment}`);
  return last;
}

type CountedUntil = Omit<CountedWindow, 'since'>;

const untilOf = ({ ends, dataUntil, lastEntry }: CountedWindow): CountedUntil => ({
  ends,
  dataUntil,
  lastEntry,
});

/**
 * Fixes up to where things count in the file of a window, and in those of the windows before it
 * that have none yet: they are in order, so each event and each change falls into one of them.
 */
async function fixCounted(unit: Unit, task: TaskRow, until: CountedUntil): Promise<CountedWindow> {
  const open = await unit.tx.any(sql.type(TASKS.row)`
    SELECT * FROM tasks
    WHERE scheduled_task_id = ${task.scheduled_task_id} AND counted IS NULL
      AND end_time <= ${formatInstant(task.end_time)}::timestamptz AND id <> ${task.id}
      AND ${isOfEnvironment}
    ORDER BY start_time, end_time LIMIT ${WINDOWS_MAX}`);
  let own: CountedWindow = { ...until, since: null };
  for (const one of [...open, task]) {
    const before = await countedBefore(unit, one);
    own = { ...until, since: before === null ? null : untilOf(before) };
    await unit.tx.query(sql.type(noRows)`
      UPDATE tasks SET counted = ${JSON.stringify(own)}::jsonb
      WHERE id = ${one.id} AND ${isOfEnvironment}`);
  }
  return own;
}

/**
 * Up to where events and changes count in the file of a window. It waits until every event that
 * was received in the window is counted, so that none is missed, and stays for ever, so that the
 * window has the same file whenever it is exported.
 * @throws Error while events of the window may still be on their way.
 */
export async function countedOf(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  task: TaskRow,
): Promise<CountedWindow> {
  if (task.counted !== null) return task.counted;
  // Before the checkpoints, which cover what was finished by then.
  const dataUntil = await needs.dataUntil();
  const fixed = await mustWrite(needs, occasion, async (unit) => {
    // Under a test clock a window may end later than now: what has come so far is in it.
    // eslint-disable-next-line no-restricted-properties -- Events come by the machine's.
    const isOver = task.end_time <= needs.clock.now();
    const { all, ends } = await findCheckpoints(unit.tx);
    const isLogEmpty = dataUntil === null && all.length === 0;
    if (isOver && !isLogEmpty && (dataUntil === null || dataUntil < task.end_time)) {
      throw new Error('events that were received in the window are still being counted');
    }
    // An attempt that was taken for dead may have fixed it meanwhile.
    const held = await lockRecord(unit, TASKS, task.id);
    if (held !== null && held.counted !== null) return held.counted;
    const lastEntry = await readLastEntry(unit);
    return fixCounted(unit, task, { ends: [...ends], dataUntil, lastEntry });
  });
  return fixed;
}
