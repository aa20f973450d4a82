import { z } from 'zod';
import { MINUTE_MS } from '../../contract/instant.js';
import { defineJob } from '../../sql/jobs/job.js';
import { exportWindow } from '../outward/exports/export-window.js';
import { findExporting, queueDueWindows } from '../outward/exports/queue-due-windows.js';
import { EXPORT_WINDOW } from '../outward/exports/scheduled-task-operations.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/**
 * Every five minutes, queues the windows of scheduled tasks that have ended. What is due follows
 * from the records: a look that is missed or made twice changes nothing.
 */
export const QUEUE_EXPORTS = defineJob({
  name: 'queue-exports',
  schedule: { everyMs: 5 * MINUTE_MS },
  input: z.object({}),
  withLease: async ({ run }, needs: JobNeeds) => {
    for (const environment of await findExporting(needs.database)) {
      run.signal.throwIfAborted();
      await queueDueWindows(needs, occasionOfRun(run, environment));
    }
    return {};
  },
});

/** Exports one window. Those of a scheduled task take turns, in the order of their queueing. */
export const EXPORT_ONE_WINDOW = defineJob({
  name: EXPORT_WINDOW.name,
  input: z.object({ taskId: z.string(), scheduledTaskId: z.string() }),
  key: EXPORT_WINDOW.keyOf,
  onceWhileWaiting: EXPORT_WINDOW.onceWhileWaiting,
  withLease: async ({ input, run }, needs: JobNeeds) => {
    const { taskId } = input;
    await exportWindow(needs, occasionOfRun(run), { taskId, signal: run.signal });
    return {};
  },
});
