import type { DatabaseTransactionConnection } from 'slonik';
import { assertPresent, messageOf } from '../../runtime/failure.js';
import type { InstantMs } from '../../contract/instant.js';
import type { Log } from '../../runtime/log.js';
import type { Metrics } from '../../runtime/metrics.js';
import { enterEnvironment } from '../driver/begin-with-next.js';
import type { Database } from '../pool.js';
import { holdLease } from './hold-lease.js';
import type { Job, JobResult, JobRun } from './job.js';
import {
  claimNext,
  finish,
  mayHaveDue,
  noteProgress,
  putBack,
  type Choice,
  type Claim,
  type RunEnd,
} from './job-table.js';
import { nextDue } from './schedule.js';
import { Turns } from './turns.js';

/** What the jobs of a program run with. */
export type JobProgram<Needs> = {
  readonly database: Database;
  readonly jobs: readonly Job<Needs>[];
  readonly needs: Needs;
  readonly log: Log;
  readonly metrics: Metrics;
};

/** Items of one environment that one process runs at once, of those that hold a lease. */
const RUNNING_MAX = 2;
const REASON_LENGTH_MAX = 500;

type Taking = Choice & {
  /** As of which instant an item runs. */
  readonly instantOf: (claim: Claim) => InstantMs;
  readonly signal: AbortSignal;
  readonly onTaken?: () => void;
};

type Taken<Needs> = { readonly claim: Claim; readonly job: Job<Needs>; readonly run: JobRun };

/** Carries out the jobs of one program, item by item. */
export class JobRunner<Needs> {
  readonly #jobs: ReadonlyMap<string, Job<Needs>>;
  readonly #turns = new Turns(RUNNING_MAX);

  constructor(private readonly program: JobProgram<Needs>) {
    this.#jobs = new Map(program.jobs.map((job) => [job.name, job]));
  }

  /**
   * Runs one item that is due, as of now; environments take turns. Any number of calls may run at
   * once, in any number of processes.
   * @param onTaken is called when there is one, before it runs.
   * @returns whether there was one. @throws DependencyError when PostgreSQL fails.
   */
  async runNext(
    now: InstantMs,
    signal: AbortSignal,
    onTaken: () => void = () => undefined,
  ): Promise<boolean> {
    if (!(await mayHaveDue(this.program.database.slonik, this.program.jobs, now))) return false;
    const { last: afterTurn, full: turnsFull } = this.#turns;
    return this.#take({ now, afterTurn, turnsFull, instantOf: () => now, signal, onTaken });
  }

  /**
   * Runs everything that is due by a clock turned to this instant, one item after the other, in the
   * order of the instants at which they would have run, and as of these; also what falls due only
   * because of it.
   * @returns how many runs there were. @throws DependencyError when PostgreSQL fails.
   */
  async runDue(now: InstantMs): Promise<number> {
    const { signal } = new AbortController();
    const instantOf = ({ runAt }: Claim): InstantMs => runAt;
    let runs = 0;
    while (await this.#take({ now, afterTurn: null, turnsFull: [], instantOf, signal })) runs += 1;
    return runs;
  }

  async #take(taking: Taking): Promise<boolean> {
    const startedAt = performance.now();
    const tried: { taken: Taken<Needs> | null } = { taken: null };
    try {
      const begun = await this.program.database.transaction(async (tx) => {
        // The pool tries a deadlock again, perhaps with another item.
        tried.taken = await this.#claim(tx, taking);
        const taken = tried.taken;
        if (taken === null) return null;
        const { leaseSeconds } = taken.job;
        return { taken, end: leaseSeconds > 0 ? null : await this.#runInTransaction(tx, taken) };
      });
      if (begun === null) return false;
      const { taken, end } = begun;
      this.#noteDone(taken, end ?? (await this.#runWithLease(taken)), startedAt);
    } catch (error) {
      if (tried.taken === null) throw error;
      await this.#putBack(tried.taken, error, startedAt);
    }
    return true;
  }

  async #claim(tx: DatabaseTransactionConnection, taking: Taking): Promise<Taken<Needs> | null> {
    const claim = await claimNext(tx, this.program.jobs, taking);
    if (claim === null) return null;
    taking.onTaken?.();
    this.#turns.last = claim.turn;
    const { id, name, environment, dueAt } = claim;
    const job = assertPresent(this.#jobs.get(name), `the job ${name}`);
    const now = claim.testClock ?? taking.instantOf(claim);
    const about = { job: name, runId: `${id}.${claim.claims}`, environment, dueAt };
    // A transaction that holds the item leaves no progress behind if it is killed.
    const progressed = async (): Promise<void> => {
      if (job.leaseSeconds > 0) await noteProgress(this.program.database.slonik, claim);
    };
    return { claim, job, run: { ...about, now, signal: taking.signal, progressed } };
  }

  async #runInTransaction(tx: DatabaseTransactionConnection, taken: Taken<Needs>): Promise<RunEnd> {
    const { claim, job, run } = taken;
    const { input, state, environment } = claim;
    if (environment !== null) await tx.query(enterEnvironment(environment));
    const result = await job.perform(tx, { input, state, run }, this.program.needs);
    const end = endOf(taken, result);
    await finish(tx, claim, end);
    return end;
  }

  async #runWithLease(taken: Taken<Needs>): Promise<RunEnd | null> {
    const { claim, job, run } = taken;
    const { database, needs, log } = this.program;
    if (job.schedule === null && claim.attempts > job.retry.tries) {
      throw new Error('each process that began it ended before it was done');
    }
    const lease = holdLease({ database, claim, leaseSeconds: job.leaseSeconds, log });
    this.#turns.begin(claim.turn);
    try {
      const signal = AbortSignal.any([run.signal, lease.signal]);
      const { input, state } = claim;
      const result = await job.perform(null, { input, state, run: { ...run, signal } }, needs);
      const end = endOf(taken, result);
      if (await finish(database.slonik, claim, end)) return end;
      log.warn({ job: claim.name, runId: run.runId }, 'a job was taken over before it was done');
      return null;
    } finally {
      this.#turns.end(claim.turn);
      await lease.release();
    }
  }

  /** Lets a failed item wait, or parks it. A run that ended with the program counts as none. */
  async #putBack({ claim, job, run }: Taken<Needs>, error: unknown, from: number): Promise<void> {
    const { database, log } = this.program;
    const { now } = run;
    if (run.signal.aborted) {
      const attempts = claim.attempts - 1;
      await putBack(database.slonik, claim, {
        attempts,
        reason: null,
        againAt: claim.runAt,
        at: now,
      });
      return;
    }
    const reason = messageOf(error).slice(0, REASON_LENGTH_MAX);
    const againAt = nextTry(job, claim.attempts, now);
    this.#noteTime(job, 'failed', from);
    await putBack(database.slonik, claim, { attempts: claim.attempts, reason, againAt, at: now });
    const about = { job: job.name, runId: run.runId, attempts: claim.attempts, error: reason };
    if (againAt === null) log.error(about, 'a job was parked: it failed too often');
    else log.warn(about, 'a job failed; it is tried again');
  }

  #noteDone(taken: Taken<Needs>, end: RunEnd | null, startedAt: number): void {
    if (end === null) return;
    const { job, run } = taken;
    const { metrics } = this.program;
    this.#noteTime(job, 'done', startedAt);
    metrics.jobLastRun.set({ job: job.name }, run.now / 1_000);
    job.show(end.state, metrics);
  }

  #noteTime({ name: job }: Job<Needs>, outcome: 'done' | 'failed', startedAt: number): void {
    const seconds = (performance.now() - startedAt) / 1_000;
    this.program.metrics.jobSeconds.observe({ job, outcome }, seconds);
  }
}

/** When a failed item is tried again; null when it has been tried often enough. */
export function nextTry<Needs>(
  { schedule, retry }: Pick<Job<Needs>, 'schedule' | 'retry'>,
  attempts: number,
  now: InstantMs,
): InstantMs | null {
  const pauseMs = Math.min(retry.pauseMsMax, retry.firstPauseMs * 3 ** (attempts - 1));
  if (schedule !== null) return Math.min(now + pauseMs, nextDue(schedule, now));
  return attempts < retry.tries ? now + pauseMs : null;
}

/** What becomes of an item whose run did not fail. */
function endOf<Needs>({ claim, job, run }: Taken<Needs>, result: JobResult<unknown>): RunEnd {
  const { now } = run;
  const next = job.schedule === null ? null : nextDue(job.schedule, now);
  const nextDueAt = result.hasMore === true ? now : next;
  return { nextDueAt, state: result.state === undefined ? claim.state : result.state, at: now };
}
