import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../runtime/clock.js';
import { messageOf } from '../../runtime/failure.js';
import { createId } from '../../runtime/ids.js';
import type { Log } from '../../runtime/log.js';
import { startRepeated } from '../../runtime/repeated.js';
import { JobRunner, type JobProgram } from './job-runner.js';
import { declareSchedules } from './job-table.js';
import { showBacklog } from './show-backlog.js';

/** Items that a process runs at once. */
const LANES = 3;
/** How soon an item begins that is due, at the latest, while a lane is free. */
const POLL_MS = 1_000;
const MEASURE_MS = 15_000;

/** Of the lanes that have nothing to run, one looks for all of them. */
class LookTurns {
  #last: Promise<void> = Promise.resolve();

  /** Work that looks until it leaves, or ends; the next one in turn looks then. */
  async take(work: (leave: () => void) => Promise<void>): Promise<void> {
    const before = this.#last;
    let leave = (): void => undefined;
    this.#last = new Promise((resolve) => {
      leave = resolve;
    });
    await before;
    await work(leave).finally(leave);
  }
}

type Lane = { readonly turns: LookTurns; readonly clock: Clock; readonly log: Log };

/** Runs one item after the other until the signal aborts. */
async function runLane<Needs>(
  runner: JobRunner<Needs>,
  { turns, clock, log }: Lane,
  signal: AbortSignal,
): Promise<void> {
  const lookUntilTaken = async (leave: () => void): Promise<void> => {
    let isTaken = false;
    const onTaken = (): void => {
      isTaken = true;
      leave();
    };
    while (!signal.aborted && !isTaken) {
      await runner.runNext(clock.now(), signal, onTaken).catch((error: unknown) => {
        log.warn({ error: messageOf(error) }, 'no job could be taken; tried again');
      });
      if (!isTaken) await delay(POLL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  };
  while (!signal.aborted) await turns.take(lookUntilTaken);
}

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
  const stop = new AbortController();
  const turns = new LookTurns();
  const lanes = Array.from({ length: LANES }, () =>
    runLane(runner, { turns, clock, log }, stop.signal),
  );
  const measuring = startRepeated({
    failure: 'the backlog of jobs could not be read; tried again in 15 seconds',
    everyMs: MEASURE_MS,
    log,
    work: () => showBacklog(program, clock.now()),
  });
  return async () => {
    stop.abort();
    await Promise.all([...lanes, measuring()]);
  };
}
