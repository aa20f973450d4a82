import { sql, type DatabaseTransactionConnection } from 'slonik';
import type { Environment } from '../../contract/environment.js';
import { noRows } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import type { Caller, IdempotencyClaim } from './caller.js';
import { isRefusal, type Refusal } from './refusal.js';

export type BillingDatabase = Database;
export type Transaction = DatabaseTransactionConnection;

/** Carries a refusal out of a transaction that must be rolled back; never leaves this file. */
class RolledBack extends Error {
  constructor(readonly refusal: Refusal) {
    super('rolled back');
  }
}

/** One consistent reading of one environment. */
export function readAs<T>(
  database: BillingDatabase,
  environment: Environment,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  return database.asEnvironment(environment, work);
}

/**
 * One change of one environment: all of it or, when `work` answers with a refusal, nothing. A claim
 * on an Idempotency-Key is marked as applied in the same transaction, so that a repeat after a
 * crash never does the work twice.
 */
export async function writeAs<T>(
  database: BillingDatabase,
  caller: Caller,
  work: (transaction: Transaction) => Promise<T | Refusal>,
): Promise<T | Refusal> {
  try {
    return await database.asEnvironment(caller.environment, async (transaction) => {
      const result = await work(transaction);
      if (isRefusal(result)) throw new RolledBack(result);
      if (caller.claim !== null) await markApplied(transaction, caller.claim);
      return result;
    });
  } catch (error) {
    if (error instanceof RolledBack) return error.refusal;
    throw error;
  }
}

/** @throws when the claim has been taken over: the whole change is then rolled back. */
async function markApplied(transaction: Transaction, claim: IdempotencyClaim): Promise<void> {
  const result = await transaction.query(sql.type(noRows)`
    UPDATE idempotency_keys SET state = 'applied'
    WHERE key = ${claim.key} AND claim_id = ${claim.claimId} AND state = 'running'`);
  if (result.rowCount !== 1) throw new Error('the claim on the Idempotency-Key was taken over');
}
