import { sql, type CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import type { IdSource } from '../../runtime/ids.js';
import { instantColumn, integerColumn } from '../columns.js';
import { statement } from '../statement.js';
import type { Job } from './job.js';
import { nextDue, scheduleText } from './schedule.js';

const claimRow = z.object({
  id: z.string(),
  name: z.string(),
  tenant_id: z.string().nullable(),
  environment_id: z.string().nullable(),
  input: z.unknown(),
  state: z.unknown(),
  due_at: instantColumn,
  run_at: instantColumn,
  attempts: z.number(),
  claims: integerColumn,
  turn: z.string(),
  test_clock: instantColumn.nullable(),
});
const backlogRow = z.object({
  name: z.string(),
  due_count: integerColumn,
  oldest_due_at: instantColumn.nullable(),
  parked_count: integerColumn,
  failures: z.number().nullable(),
  finished_at: instantColumn.nullable(),
  state: z.unknown(),
});
const dueRow = z.object({ is_due: z.boolean() });
const heldRow = z.object({ is_held: z.boolean() });

const isJobDue = statement('is-job-due', dueRow);
const claimJob = statement('claim-job', claimRow);
const renewJob = statement('renew-job', heldRow);
const noteJobProgress = statement('note-job-progress', heldRow);
const finishJob = statement('finish-job', heldRow);
const putBackJob = statement('put-back-job', heldRow);
const declareSchedule = statement('declare-job-schedule', z.unknown());
const listBacklog = statement('list-job-backlog', backlogRow);

/** An item that was taken. */
export type Claim = {
  readonly id: string;
  readonly name: string;
  readonly environment: Environment | null;
  readonly input: unknown;
  readonly state: unknown;
  readonly dueAt: InstantMs;
  readonly runAt: InstantMs;
  /** This try included. */
  readonly attempts: number;
  readonly claims: number;
  readonly turn: string;
  /** What the test clock of its environment shows; null when there is none. */
  readonly testClock: InstantMs | null;
};

/** How much there is to do of one job. */
export type Backlog = z.output<typeof backlogRow>;

type Statements = Pick<CommonQueryMethods, 'any' | 'maybeOne' | 'one' | 'query'>;

const instantOrNull = (instant: InstantMs | null): string | null =>
  instant === null ? null : formatInstant(instant);

function claimFromRow(row: z.output<typeof claimRow>): Claim {
  const { tenant_id: tenantId, environment_id: environmentId } = row;
  return {
    id: row.id,
    name: row.name,
    input: row.input,
    state: row.state,
    turn: row.turn,
    environment: tenantId === null || environmentId === null ? null : { tenantId, environmentId },
    testClock: row.test_clock,
    dueAt: row.due_at,
    runAt: row.run_at,
    attempts: row.attempts,
    claims: row.claims,
  };
}

/** Which items may be taken, of those that are due. */
export type Choice = {
  readonly now: InstantMs;
  /** The turn after this one is next; null takes the earliest item, whosever turn it is. */
  readonly afterTurn: string | null;
  /** These have as many running as they may have. */
  readonly turnsFull: readonly string[];
};

/** Whether there may be an item to take. It costs a third of `claimNext`. */
export async function mayHaveDue(
  tx: Statements,
  jobs: readonly Pick<Job<never>, 'name'>[],
  now: InstantMs,
): Promise<boolean> {
  const names = sql.array(
    jobs.map(({ name }) => name),
    'text',
  );
  return (await tx.one(isJobDue({ due: formatInstant(now), names }))).is_due;
}

/** Takes an item that is due, and locks it; null when there is none. */
export async function claimNext(
  tx: Statements,
  jobs: readonly Pick<Job<never>, 'name' | 'leaseSeconds'>[],
  { now, afterTurn, turnsFull }: Choice,
): Promise<Claim | null> {
  const row = await tx.maybeOne(
    claimJob({
      due: formatInstant(now),
      names: sql.array(
        jobs.map(({ name }) => name),
        'text',
      ),
      leases: sql.array(
        jobs.map(({ leaseSeconds }) => leaseSeconds),
        'float8',
      ),
      afterTurn,
      turnsFull: sql.array([...turnsFull], 'text'),
    }),
  );
  return row === null ? null : claimFromRow(row);
}

/** Whether the claim still holds, then for the length of the lease. */
export async function renew(
  tx: Statements,
  { id, claims }: Claim,
  leaseSeconds: number,
): Promise<boolean> {
  return (await tx.one(renewJob({ id, claim: claims, leaseSeconds }))).is_held;
}

/** Lets this try count as the first one, if the claim still holds. */
export async function noteProgress(tx: Statements, { id, claims }: Claim): Promise<void> {
  await tx.query(noteJobProgress({ id, claim: claims }));
}

/** How a run that did not fail ends. */
export type RunEnd = {
  /** When the item is due again; null removes it. */
  readonly nextDueAt: InstantMs | null;
  readonly state: unknown;
  readonly at: InstantMs;
};

/** Ends a run that did not fail; false when another claim has taken the item over. */
export async function finish(tx: Statements, { id, claims }: Claim, end: RunEnd): Promise<boolean> {
  const nextDueAt = instantOrNull(end.nextDueAt);
  const state = end.state === null ? null : JSON.stringify(end.state);
  const at = formatInstant(end.at);
  return (await tx.one(finishJob({ id, claim: claims, nextDueAt, state, at }))).is_held;
}

/** Puts an item back that was not finished; without an instant it is parked. */
export async function putBack(
  tx: Statements,
  { id, claims }: Claim,
  why: {
    readonly attempts: number;
    readonly reason: string | null;
    readonly againAt: InstantMs | null;
    readonly at: InstantMs;
  },
): Promise<void> {
  const { attempts, reason } = why;
  const againAt = instantOrNull(why.againAt);
  const at = formatInstant(why.at);
  await tx.query(putBackJob({ id, claim: claims, attempts, reason, againAt, at }));
}

/** Stores the rows of the jobs with a schedule; the first run of an interval is due at once. */
export async function declareSchedules(
  tx: Statements,
  jobs: readonly Pick<Job<never>, 'name' | 'schedule'>[],
  { now, newId }: { readonly now: InstantMs; readonly newId: IdSource },
): Promise<void> {
  for (const { name, schedule } of jobs) {
    if (schedule === null) continue;
    const firstDueAt = 'everyMs' in schedule ? now : nextDue(schedule, now);
    await tx.query(
      declareSchedule({
        id: newId('job'),
        name,
        schedule: scheduleText(schedule),
        firstDueAt: formatInstant(firstDueAt),
        at: formatInstant(now),
      }),
    );
  }
}

/** How much there is to do of each of these jobs. */
export function readBacklog(
  tx: Statements,
  names: readonly string[],
  now: InstantMs,
): Promise<readonly Backlog[]> {
  return tx.any(listBacklog({ due: formatInstant(now), names: sql.array([...names], 'text') }));
}
