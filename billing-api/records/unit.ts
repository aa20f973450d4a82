import { sql, type CommonQueryMethods } from 'slonik';
import { isOfEnvironment } from './conditions.js';
import type { Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';
import type { Clock } from '../../runtime/clock.js';
import type { IdSource } from '../../runtime/ids.js';
import { noRows } from '../../sql/columns.js';
import { Rollback, type Database } from '../../sql/pool.js';
import type { Actor, IdempotencyClaim, Occasion, Reading } from './occasion.js';
import type { NewSystemEvent, RecordedChange } from './recorded-change.js';
import { accept, answerOf, isRefusal, type Refusal } from './refusal.js';
import { storeChanges } from './store-changes.js';

export type BillingDatabase = Database;

/** Runs the statements of one transaction; row-level security shows it one environment only. */
export type Transaction = CommonQueryMethods;

/** What an operation that reads needs. */
export type ReadDependencies = {
  readonly database: BillingDatabase;
  /** That of the machine: an operation asks its unit instead, which knows of test clocks. */
  readonly clock: Clock;
};

/** What an operation that writes needs. */
export type WriteDependencies = ReadDependencies & { readonly createId: IdSource };

/** What statements alone need of a unit. */
export type StatementUnit = { readonly tx: Transaction };

/** One consistent reading of one environment, at one instant. */
export type ReadUnit = StatementUnit & {
  readonly environment: Environment;
  /** One instant for all of it, from the clock of the environment. */
  readonly now: InstantMs;
};

/**
 * One change of one environment, with everything that may differ from run to run: who makes it,
 * the instant at which it happens, and where its ids come from. The functions that write records
 * gather in it what is stored together with the change: the audit trail and the system events.
 */
export type Unit = ReadUnit & {
  readonly actor: Actor;
  readonly newId: IdSource;
  /** The records that were written so far, in order. */
  readonly changes: RecordedChange[];
  /** The system events to be stored with the change, in order. */
  readonly events: NewSystemEvent[];
};

/** Rolls a transaction back because of a refusal; never leaves this file. */
class RefusedUnit extends Rollback {
  constructor(readonly refusal: Refusal) {
    super('refused');
  }
}

/**
 * Reads one environment: all statements see the same snapshot, whatever is committed meanwhile,
 * and none of them can write or lock. `work` runs again when the clock of the environment turns out
 * to show another instant. A refusal that `work` throws is answered.
 */
export function readUnit<T>(
  { database, clock }: ReadDependencies,
  { environment, at }: Reading,
  work: (unit: ReadUnit) => Promise<T>,
): Promise<T | Refusal> {
  return database.readSnapshot(environment, (tx, testClock) =>
    answerOf(async () => work({ tx, environment, now: at ?? testClock ?? clock.now() })),
  );
}

/**
 * Changes one environment in one transaction: all of it or, when `work` throws a refusal, nothing;
 * the refusal is answered. What `work` reads for the answer belongs to the same transaction. A
 * claim on an Idempotency-Key is marked as applied in it, so that a retry after a crash never does
 * the work twice. `work` may run several times (deadlocks, a clock that has moved), so it must do
 * nothing but SQL.
 */
export async function writeUnit<T>(
  { database, clock, createId }: WriteDependencies,
  { environment, at, actor }: Occasion,
  work: (unit: Unit) => Promise<T>,
): Promise<T | Refusal> {
  const began = clock.now();
  try {
    return await database.asEnvironment(environment, async (tx, testClock) => {
      const now = at ?? testClock ?? began;
      const unit = { tx, environment, actor, now, newId: createId, changes: [], events: [] };
      const result = await answerOf(async () => work(unit));
      if (isRefusal(result)) throw new RefusedUnit(result);
      if (actor.kind === 'request' && actor.claim !== null) await markApplied(tx, actor.claim);
      await storeChanges(unit);
      return result;
    });
  } catch (error: unknown) {
    if (error instanceof RefusedUnit) return error.refusal;
    throw error;
  }
}

/**
 * The same for whoever has no one whom a refusal could be told, as a job, which then fails and is
 * tried again.
 * @throws Refused
 */
export async function mustRead<T>(
  dependencies: ReadDependencies,
  reading: Reading,
  work: (unit: ReadUnit) => Promise<T>,
): Promise<T> {
  return accept<T>(await readUnit(dependencies, reading, work));
}

/** @throws Refused, with nothing stored. */
export async function mustWrite<T>(
  dependencies: WriteDependencies,
  occasion: Occasion,
  work: (unit: Unit) => Promise<T>,
): Promise<T> {
  return accept<T>(await writeUnit(dependencies, occasion, work));
}

/** @throws when the claim has been taken over: the whole change is then rolled back. */
async function markApplied(tx: Transaction, claim: IdempotencyClaim): Promise<void> {
  const result = await tx.query(sql.type(noRows)`
    UPDATE idempotency_keys SET state = 'applied'
    WHERE ${isOfEnvironment} AND key = ${claim.key} AND claim_id = ${claim.claimId} AND state = 'running'`);
  if (result.rowCount !== 1) throw new Error('the claim on the Idempotency-Key was taken over');
}
