import type { DatabaseTransactionConnection } from 'slonik';
import type { z, ZodTypeAny } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { MINUTE_MS, type InstantMs } from '../../contract/instant.js';
import type { Metrics } from '../../runtime/metrics.js';
import type { Schedule } from './schedule.js';

/** One run of a job: on whose behalf and when, and how it is told to stop. */
export type JobRun = {
  readonly job: string;
  /** Names this try of this item, as a request id names a request. */
  readonly runId: string;
  /** Null for a job of no environment. */
  readonly environment: Environment | null;
  /** The instant at which it runs, by the clock of its environment where that has one. */
  readonly now: InstantMs;
  /** The instant at which it fell due. */
  readonly dueAt: InstantMs;
  /** Aborts when the program ends, or another process has taken the item over. */
  readonly signal: AbortSignal;
  /**
   * Says that the run has got something done which stays. If its process is killed after that, the
   * next try counts as the first. Without effect on a job that is done in one transaction.
   */
  readonly progressed: () => Promise<void>;
};

/** What a run that did not fail leaves behind. */
export type JobResult<State> = {
  /** There is more of it: it is due again at once, and others have their turn before. */
  readonly hasMore?: boolean;
  /** What the next run of a scheduled job begins with; as before when absent. */
  readonly state?: State;
};

/**
 * How often a failing item is tried, and how long it pauses: each pause is three times as long as
 * the one before, up to a limit. Then it is parked. A scheduled job is never parked: it is tried
 * when it is due again, at the latest.
 */
export type Retry = {
  readonly tries: number;
  readonly firstPauseMs: number;
  readonly pauseMsMax: number;
};

/** Ten tries within four hours, so that an outage of an evening parks nothing. */
const RETRY: Retry = { tries: 10, firstPauseMs: 5_000, pauseMsMax: 60 * MINUTE_MS };

/** Several times as long as a renewal takes, so that a short outage does not end a run. */
const LEASE_SECONDS = 30;

/**
 * How a job is carried out. Whatever it does must bear being done twice.
 * - `inTransaction`: nothing but SQL, as the environment of the item. It commits together with the
 *   end of the item, or not at all; a process that is killed leaves the item free at once. It must
 *   be over within a minute.
 * - `withLease`: anything else. The process holds the item, and another one takes it over when it
 *   has not been heard of for the length of the lease, 30 seconds when absent.
 */
type Work<Input, State, Needs> =
  | {
      readonly inTransaction: (
        tx: DatabaseTransactionConnection,
        given: Given<Input, State>,
        needs: Needs,
      ) => Promise<JobResult<State>>;
    }
  | {
      readonly withLease: (given: Given<Input, State>, needs: Needs) => Promise<JobResult<State>>;
      readonly leaseSeconds?: number;
    };

export type Given<Input, State> = {
  readonly input: Input;
  /** What the run before left behind; null at first, and when a release reads it no more. */
  readonly state: State | null;
  readonly run: JobRun;
};

/** A job as it is declared. */
export type JobDefinition<In extends ZodTypeAny, Kept extends ZodTypeAny, Needs> = {
  /** In kebab-case; stored with each item, so it must never change while items wait. */
  readonly name: string;
  readonly input: In;
  /** Absent when it is done on demand. One with a schedule belongs to no environment. */
  readonly schedule?: Schedule;
  /** What a scheduled job keeps from run to run. */
  readonly state?: Kept;
  /** Shows what it keeps, in every process that declares the job. */
  readonly show?: (state: z.output<Kept>, metrics: Metrics) => void;
  /** At most one item of an environment and a key runs at any time. Without it: one of each. */
  readonly key?: (input: z.output<In>) => string;
  /** An item is not queued when one with its key waits already. */
  readonly onceWhileWaiting?: boolean;
  readonly retry?: Partial<Retry>;
} & Work<z.output<In>, z.output<Kept>, Needs>;

/** What the runner needs of a job, whatever its input. */
export type Job<Needs> = {
  readonly name: string;
  readonly schedule: Schedule | null;
  readonly retry: Retry;
  /** 0 when it runs in the transaction that takes it. */
  readonly leaseSeconds: number;
  readonly perform: (
    tx: DatabaseTransactionConnection | null,
    stored: { readonly input: unknown; readonly state: unknown; readonly run: JobRun },
    needs: Needs,
  ) => Promise<JobResult<unknown>>;
  readonly show: (state: unknown, metrics: Metrics) => void;
};

/** What queueing needs of a job. */
export type Queueable<Input> = {
  readonly name: string;
  readonly keyOf: (input: Input) => string;
  readonly onceWhileWaiting: boolean;
};

/** Declares a job. Programs hand all of theirs to `startJobs`. */
export function defineJob<In extends ZodTypeAny, Kept extends ZodTypeAny, Needs>(
  definition: JobDefinition<In, Kept, Needs>,
): Job<Needs> & Queueable<z.output<In>> {
  const { name, input, state, show } = definition;
  const keptOf = (stored: unknown): z.output<Kept> | null => {
    const kept = stored === null ? undefined : state?.safeParse(stored);
    return kept?.success === true ? (kept.data as z.output<Kept>) : null;
  };
  return {
    name,
    schedule: definition.schedule ?? null,
    retry: { ...RETRY, ...definition.retry },
    leaseSeconds: 'inTransaction' in definition ? 0 : (definition.leaseSeconds ?? LEASE_SECONDS),
    keyOf: definition.key ?? (() => ''),
    onceWhileWaiting: definition.onceWhileWaiting ?? false,
    perform: (tx, stored, needs) => {
      const parsed = input.parse(stored.input) as z.output<In>;
      const given = { input: parsed, state: keptOf(stored.state), run: stored.run };
      if ('withLease' in definition) return definition.withLease(given, needs);
      if (tx === null) throw new Error(`the job ${name} needs a transaction`);
      return definition.inTransaction(tx, given, needs);
    },
    show: (stored, metrics) => {
      const kept = keptOf(stored);
      if (kept !== null) show?.(kept, metrics);
    },
  };
}
