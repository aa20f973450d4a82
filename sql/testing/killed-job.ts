import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { assertPresent } from '../../runtime/failure.js';
import { builtModule } from '../../runtime/project.js';
import { JobRunner } from '../jobs/job-runner.js';
import type { Job } from '../jobs/job.js';
import type { Database } from '../pool.js';

/** Which job is begun, and at which step it stops for ever. */
export type HangingJob = {
  readonly job: string;
  /** A part of the statement; "end" is behind all work, before the end of the item is stored. */
  readonly at: string;
  readonly databaseUrl: string;
  readonly clickHouseUrl: string;
};

/** Short, so that a test need not wait for the lease of a killed process. */
const LEASE_SECONDS = 1;

const hang = (): Promise<never> => {
  process.send?.('reached');
  // The channel to the parent keeps the process alive.
  return new Promise(() => undefined);
};

/** The same object, of which a call never returns once it has done what the text names. */
export function hangingAt<T extends object>(target: T, at: string): T {
  return new Proxy(target, {
    get: (of, key) => {
      const member: unknown = Reflect.get(of, key);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, of, parameters);
        if (key === 'withOptions') return hangingAt(result as object, at);
        if (!(result instanceof Promise)) return result;
        const isThere = `${String(key)} ${JSON.stringify(parameters[0])}`.includes(at);
        return isThere ? result.then(hang) : result;
      };
    },
  });
}

/** A job with a short lease, which hangs at its end if that is where it shall. */
function shortened<Needs>(job: Job<Needs>, at: string | null): Job<Needs> {
  const leaseSeconds = Math.min(job.leaseSeconds, LEASE_SECONDS);
  const perform: Job<Needs>['perform'] = async (...given) => {
    const result = await job.perform(...given);
    return at === 'end' ? hang() : result;
  };
  return { ...job, leaseSeconds, perform };
}

/** In the process that will be killed: runs the job until it hangs. */
export async function hangInJob<Needs>(
  hanging: HangingJob,
  from: {
    readonly database: Database;
    readonly jobs: readonly Job<Needs>[];
    readonly needs: Needs;
  },
): Promise<void> {
  const { database, jobs, needs } = from;
  const job = assertPresent(
    jobs.find(({ name }) => name === hanging.job),
    `the job ${hanging.job}`,
  );
  await runnerOf(database, shortened(job, hanging.at), needs).runNext(
    Date.now(),
    new AbortController().signal,
  );
  throw new Error(`the job ${hanging.job} ended without coming to ${hanging.at}`);
}

function runnerOf<Needs>(database: Database, job: Job<Needs>, needs: Needs): JobRunner<Needs> {
  const log = createLog('test', 'silent');
  return new JobRunner({ database, jobs: [job], needs, log, metrics: createMetrics() });
}

/** Starts a process that begins the job, and kills it with SIGKILL where it hangs. */
export async function killInJob(module: string, hanging: HangingJob): Promise<void> {
  const child = fork(builtModule(module), [JSON.stringify(hanging)]);
  const exited = once(child, 'exit');
  const [said] = await Promise.race([once(child, 'message'), exited.then(() => ['ended'])]);
  child.kill('SIGKILL');
  await exited;
  if (said !== 'reached') throw new Error(`${hanging.job} did not come to ${hanging.at}`);
}

/** Carries out what is due of one job, also what a killed process held. */
export async function finishJob<Needs>(
  database: Database,
  job: Job<Needs>,
  needs: Needs,
): Promise<void> {
  const runner = runnerOf(database, shortened(job, null), needs);
  const deadline = performance.now() + 20_000;
  const { signal } = new AbortController();
  while (!(await runner.runNext(Date.now(), signal))) {
    if (performance.now() > deadline) throw new Error(`the job ${job.name} was not taken over`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  while (await runner.runNext(Date.now(), signal));
}
