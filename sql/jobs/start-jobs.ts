import type { Clock } from '../../runtime/clock.js';
import { createId } from '../../runtime/ids.js';
import { startRepeated } from '../../runtime/repeated.js';
import { JobRunner, type JobProgram } from './job-runner.js';
import { declareSchedules } from './job-table.js';
import { showBacklog } from './show-backlog.js';

/** Items that a process runs at once. */
const LANES = 3;
/** How soon an item begins that is due, at the latest, while a lane is free. */
const POLL_MS = 1_000;
const MEASURE_MS = 15_000;

/**
 * Starts to carry out the jobs of a program, beside all other processes that do. Its clock decides
 * what is due.
 * @returns a function that stops it and waits for the runs in progress, whose signal aborts.
 * @throws DependencyError when PostgreSQL fails.
 */
export async function startJobs<Needs>(
  program: JobProgram<Needs> & { readonly clock: Clock },
): Promise<() => Promise<void>> {
  const { database, jobs, clock, log } = program;
  await declareSchedules(database.slonik, jobs, { now: clock.now(), newId: createId });
  const runner = new JobRunner(program);
  const lanes = Array.from({ length: LANES }, (_, lane) =>
    startRepeated({
      failure: 'no job could be taken; tried again in a second',
      everyMs: POLL_MS,
      firstDelayMs: (lane * POLL_MS) / LANES,
      log,
      work: async (signal) => {
        while (!signal.aborted && (await runner.runNext(clock.now(), signal)));
      },
    }),
  );
  const measuring = startRepeated({
    failure: 'the backlog of jobs could not be read; tried again in 15 seconds',
    everyMs: MEASURE_MS,
    log,
    work: () => showBacklog(program, clock.now()),
  });
  return async () => {
    await Promise.all([...lanes, measuring].map((stop) => stop()));
  };
}
