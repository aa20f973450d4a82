import type { InstantMs } from '../../contract/instant.js';
import type { JobProgram } from './job-runner.js';
import { readBacklog, type Backlog } from './job-table.js';

/** Of a job that has no item. */
const NOTHING: Omit<Backlog, 'name'> = {
  due_count: 0,
  oldest_due_at: null,
  parked_count: 0,
  failures: 0,
  finished_at: null,
  state: null,
};

/**
 * Writes to the metrics of this process how much there is to do of its jobs, in all processes, and
 * what scheduled jobs found, whichever process ran them. @throws DependencyError.
 */
export async function showBacklog<Needs>(
  { database, jobs, metrics }: JobProgram<Needs>,
  now: InstantMs,
): Promise<void> {
  const names = jobs.map(({ name }) => name);
  const rows = await readBacklog(database.slonik, names, now);
  const known = new Map(rows.map((row) => [row.name, row]));
  for (const job of jobs) {
    const row = known.get(job.name) ?? { ...NOTHING, name: job.name };
    const labels = { job: job.name };
    const oldest = row.oldest_due_at ?? now;
    metrics.jobsDue.set(labels, row.due_count);
    metrics.jobWait.set(labels, Math.max(0, now - oldest) / 1_000);
    metrics.jobsParked.set(labels, row.parked_count);
    metrics.jobFailures.set(labels, row.failures ?? 0);
    if (row.finished_at !== null) metrics.jobLastRun.set(labels, row.finished_at / 1_000);
    job.show(row.state, metrics);
  }
}
