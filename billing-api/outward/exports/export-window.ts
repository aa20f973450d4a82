import { sql } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent, messageOf } from '../../../runtime/failure.js';
import { noRows } from '../../../sql/columns.js';
import { CONNECTIONS, type ConnectionRow } from '../../declarations/exports/connection.resource.js';
import {
  SCHEDULED_TASKS,
  type ScheduledTaskRow,
} from '../../declarations/exports/scheduled-task.resource.js';
import { TASKS, type TaskRow } from '../../declarations/exports/task.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { findRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { mustRead, mustWrite, type Unit } from '../../records/unit.js';
import { countedOf } from './counted-window.js';
import { exportedFile } from './exported-rows.js';
import type { ExportNeeds } from './export-needs.js';
import { openSecrets } from './open-secrets.js';
import { writeFile, type WrittenFile } from './write-file.js';

/** After so many attempts the window is left until a later look makes it up. */
const ATTEMPTS_MAX = 3;

type Begun = {
  readonly task: TaskRow;
  readonly scheduled: ScheduledTaskRow;
  readonly connection: ConnectionRow;
};

/** Begins the next attempt of a window; null when it is done already, or its task is disabled. */
async function begin(unit: Unit, taskId: string): Promise<Begun | null> {
  const task = await lockRecord(unit, TASKS, taskId);
  if (task === null || task.task_status === 'COMPLETED') return null;
  const scheduled = assertPresent(
    await findRecord(unit, SCHEDULED_TASKS, task.scheduled_task_id),
    'the scheduled task of a run',
  );
  if (scheduled.status !== 'published' || !scheduled.enabled) return null;
  const connection = assertPresent(
    await findRecord(unit, CONNECTIONS, scheduled.connection_id),
    'the connection of a scheduled task',
  );
  await unit.tx.query(sql.type(noRows)`
    UPDATE tasks SET task_status = 'PROCESSING', attempts = attempts + 1, error = NULL,
      started_at = ${formatInstant(unit.now)}::timestamptz
    WHERE id = ${taskId} AND ${isOfEnvironment}`);
  return { task, scheduled, connection };
}

async function complete({ tx, now }: Unit, taskId: string, file: WrittenFile): Promise<null> {
  const at = sql.fragment`${formatInstant(now)}::timestamptz`;
  await tx.query(sql.type(noRows)`
    UPDATE tasks SET task_status = 'COMPLETED', file_url = ${file.fileUrl},
      manifest_url = ${file.manifestUrl}, record_count = ${file.recordCount},
      late_count = ${file.lateCount}, file_sha256 = ${file.sha256}, error = NULL,
      completed_at = ${at}, updated_at = ${at}
    WHERE id = ${taskId} AND ${isOfEnvironment}`);
  return null;
}

async function fail({ tx, now }: Unit, taskId: string, reason: string): Promise<null> {
  await tx.query(sql.type(noRows)`
    UPDATE tasks SET error = ${reason.slice(0, 1000)},
      task_status = CASE WHEN attempts >= ${ATTEMPTS_MAX} THEN 'FAILED' ELSE 'PENDING' END,
      updated_at = ${formatInstant(now)}::timestamptz
    WHERE id = ${taskId} AND ${isOfEnvironment}`);
  return null;
}

/** Whether this attempt is still the one that exports the window. */
async function isCurrent(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  begun: Begun,
): Promise<boolean> {
  const task = await mustRead(needs, occasion, (unit) => findRecord(unit, TASKS, begun.task.id));
  return task?.task_status === 'PROCESSING' && task.attempts === begun.task.attempts + 1;
}

async function write(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  { begun, signal }: { readonly begun: Begun; readonly signal: AbortSignal },
) {
  const { task, scheduled, connection } = begun;
  const secrets = await openSecrets(needs, connection);
  const window = { startMs: task.start_time, endMs: task.end_time };
  const counted = await countedOf(needs, occasion, task);
  const file = exportedFile(needs, occasion, { scheduled, window, counted });
  if (!(await isCurrent(needs, occasion, begun))) throw new Error('another attempt has begun');
  return writeFile(scheduled, { window, file, secrets, outbound: needs.outbound, signal });
}

/**
 * Exports one window, and notes what became of it. It may be killed at any point and done again:
 * the same window writes the same key. Once the signal aborts, because another process has taken
 * the window over, nothing is written any more, neither to the store nor to the task.
 * @throws when it has failed and is to be tried again.
 */
export async function exportWindow(
  needs: ExportNeeds,
  occasion: Occasion<JobActor>,
  { taskId, signal }: { readonly taskId: string; readonly signal: AbortSignal },
): Promise<void> {
  const begun = await mustWrite(needs, occasion, (unit) => begin(unit, taskId));
  if (begun === null) return;
  try {
    const file = await write(needs, occasion, { begun, signal });
    await mustWrite(needs, occasion, (unit) => complete(unit, taskId, file));
  } catch (error) {
    if (signal.aborted) throw error;
    await mustWrite(needs, occasion, (unit) => fail(unit, taskId, messageOf(error)));
    // The attempt before this one was the last but one.
    if (begun.task.attempts + 1 < ATTEMPTS_MAX) throw error;
  }
}
