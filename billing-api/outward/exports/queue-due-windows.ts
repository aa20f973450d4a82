import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../../contract/environment.js';
import { formatInstant } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import {
  SCHEDULED_TASKS,
  type ScheduledTaskRow,
} from '../../declarations/exports/scheduled-task.resource.js';
import { TASKS } from '../../declarations/exports/task.resource.js';
import { CATCH_UP_MS, dueWindows } from '../../domain/outward/export-windows.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import {
  type BillingDatabase,
  mustWrite,
  type Unit,
  type WriteDependencies,
} from '../../records/unit.js';
import { queueWindow } from './scheduled-task-operations.js';

const ENVIRONMENTS_MAX = 10_000;
const environmentRow = z.object({ tenant_id: z.string(), environment_id: z.string() });

/** The environments that have enabled tasks. */
export async function findExporting({ slonik }: BillingDatabase): Promise<readonly Environment[]> {
  const rows = await slonik.any(sql.type(environmentRow)`
    SELECT tenant_id, environment_id FROM list_exporting(${ENVIRONMENTS_MAX})`);
  return rows.map((row) => ({ tenantId: row.tenant_id, environmentId: row.environment_id }));
}

/** A window that failed is tried anew so long after its last attempt. */
const FAILED_PAUSE_MS = 3_600_000;

/** Queues the windows that are due, and those that failed a while ago. */
async function queueTask(unit: Unit, scheduled: ScheduledTaskRow): Promise<void> {
  const { interval, queued_until: until, created_at: created } = scheduled;
  const due = dueWindows(interval, until ?? created, unit.now);
  for (const window of due) await queueWindow(unit, scheduled, window);
  const last = due.at(-1);
  if (last !== undefined) {
    await unit.tx.query(sql.type(noRows)`
      UPDATE scheduled_tasks SET queued_until = ${formatInstant(last.endMs)}::timestamptz
      WHERE id = ${scheduled.id} AND ${isOfEnvironment}`);
  }
  const failed = await unit.tx.any(sql.type(TASKS.row)`
    SELECT * FROM tasks
    WHERE scheduled_task_id = ${scheduled.id} AND task_status = 'FAILED'
      AND end_time > ${formatInstant(unit.now - CATCH_UP_MS)}::timestamptz
      AND updated_at <= ${formatInstant(unit.now - FAILED_PAUSE_MS)}::timestamptz
      AND ${isOfEnvironment}
    ORDER BY start_time LIMIT 100`);
  for (const { start_time: startMs, end_time: endMs } of failed) {
    await queueWindow(unit, scheduled, { startMs, endMs });
  }
}

/** Queues every window of an environment that is due and was not queued yet. */
export async function queueDueWindows(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
): Promise<void> {
  await mustWrite(dependencies, occasion, async (unit) => {
    const rows = await unit.tx.any(sql.type(SCHEDULED_TASKS.row)`
      SELECT * FROM scheduled_tasks
      WHERE enabled AND status = 'published' AND ${isOfEnvironment}
      ORDER BY id FOR NO KEY UPDATE`);
    for (const row of rows) await queueTask(unit, row);
    return null;
  });
}
