import { sql } from 'slonik';
import { z } from 'zod';
import { isOfEnvironment } from '../../records/conditions.js';
import type { Environment } from '../../../contract/environment.js';
import { formatInstant, HOUR_MS, type InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { instantColumn, noRows } from '../../../sql/columns.js';
import type { IdempotencyClaim } from '../../records/occasion.js';
import type { BillingDatabase, Transaction } from '../../records/unit.js';

const KEPT_MS = 24 * HOUR_MS;
/**
 * A claim that is older is taken to belong to a process that died. Taking it over is safe at any
 * age, because the old request then rolls its write back; waiting spares requests that are slow.
 */
const CLAIM_LEASE_MS = 90_000;

/** What tells a retry from another request under the same key. */
export type RequestIdentity = {
  readonly key: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** SHA-256 of the user and the body as canonical JSON, 64 hex digits; column `body_hash`. */
  readonly hash: string;
};

/** The answer to a successful request, as it was sent. */
export type StoredAnswer = {
  readonly status: number;
  /** ETag and Location, if it had them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/**
 * What to do with a request: carry it out under a claim, give the stored answer again, or refuse
 * it. `other-request`: the key was used for another request. `running`: the first request is still
 * being carried out. `lost`: the first request was carried out, but its process ended before the
 * answer was stored.
 */
export type ClaimOutcome =
  | { readonly outcome: 'claimed'; readonly claim: IdempotencyClaim }
  | { readonly outcome: 'answered'; readonly answer: StoredAnswer }
  | { readonly outcome: 'other-request' }
  | { readonly outcome: 'running' }
  | { readonly outcome: 'lost' };

const keyRow = z.object({
  method: z.string(),
  path: z.string(),
  body_hash: z.string(),
  state: z.enum(['running', 'applied', 'answered']),
  claimed_at: instantColumn,
  answer_status: z.number().int().nullable(),
  answer_headers: z.record(z.string()).nullable(),
  answer_body: z.string().nullable(),
  expires_at: instantColumn,
});
type KeyRow = z.output<typeof keyRow>;

type ClaimCommand = {
  readonly environment: Environment;
  readonly request: RequestIdentity;
  readonly claimId: string;
  readonly now: InstantMs;
};

/** Inserts the claim; false when the key has a row. */
async function insertClaim(transaction: Transaction, command: ClaimCommand): Promise<boolean> {
  const { environment, request, claimId, now } = command;
  const result = await transaction.query(sql.type(noRows)`
    INSERT INTO idempotency_keys (tenant_id, environment_id, key, method, path, body_hash, state,
      claim_id, claimed_at, expires_at)
    VALUES (${environment.tenantId}, ${environment.environmentId}, ${request.key},
      ${request.method}, ${request.path}, decode(${request.hash}, 'hex'), 'running',
      ${claimId}, ${formatInstant(now)}, ${formatInstant(now + KEPT_MS)})
    ON CONFLICT (tenant_id, environment_id, key) DO NOTHING`);
  return result.rowCount === 1;
}

async function lockKey(transaction: Transaction, key: string): Promise<KeyRow | null> {
  return transaction.maybeOne(sql.type(keyRow)`
    SELECT method, path, encode(body_hash, 'hex') AS body_hash, state, claimed_at, answer_status,
      answer_headers, answer_body, expires_at
    FROM idempotency_keys WHERE ${isOfEnvironment} AND key = ${key} FOR UPDATE`);
}

async function takeOver(transaction: Transaction, command: ClaimCommand): Promise<ClaimOutcome> {
  const { request, claimId, now } = command;
  await transaction.query(sql.type(noRows)`
    UPDATE idempotency_keys
    SET method = ${request.method}, path = ${request.path},
        body_hash = decode(${request.hash}, 'hex'), state = 'running', claim_id = ${claimId},
        claimed_at = ${formatInstant(now)}, expires_at = ${formatInstant(now + KEPT_MS)},
        answer_status = NULL, answer_headers = NULL, answer_body = NULL
    WHERE ${isOfEnvironment} AND key = ${request.key}`);
  return { outcome: 'claimed', claim: { key: request.key, claimId } };
}

function isSameRequest(row: KeyRow, request: RequestIdentity): boolean {
  return (
    row.method === request.method && row.path === request.path && row.body_hash === request.hash
  );
}

async function decideOnKnownKey(
  transaction: Transaction,
  command: ClaimCommand,
  row: KeyRow,
): Promise<ClaimOutcome> {
  if (row.expires_at <= command.now) return takeOver(transaction, command);
  if (!isSameRequest(row, command.request)) return { outcome: 'other-request' };
  if (row.state === 'answered') {
    const { answer_status: status, answer_headers: headers, answer_body: body } = row;
    const answer = { status: assertPresent(status, 'the stored status'), headers: headers ?? {} };
    return { outcome: 'answered', answer: { ...answer, body: body ?? '' } };
  }
  if (row.claimed_at + CLAIM_LEASE_MS > command.now) return { outcome: 'running' };
  return row.state === 'running' ? takeOver(transaction, command) : { outcome: 'lost' };
}

/** Claims the key for a request, or says why not. Two simultaneous calls never both get it. */
export function claimKey(database: BillingDatabase, command: ClaimCommand): Promise<ClaimOutcome> {
  return database.asEnvironment(command.environment, async (transaction): Promise<ClaimOutcome> => {
    if (await insertClaim(transaction, command)) {
      return { outcome: 'claimed', claim: { key: command.request.key, claimId: command.claimId } };
    }
    const row = await lockKey(transaction, command.request.key);
    // The row can be gone only if it was released in between; the caller may simply try again.
    return row === null ? { outcome: 'running' } : decideOnKnownKey(transaction, command, row);
  });
}

/** Stores the answer for retries, if the claim is still in force. */
export async function storeAnswer(
  database: BillingDatabase,
  environment: Environment,
  result: { readonly claim: IdempotencyClaim; readonly answer: StoredAnswer },
): Promise<void> {
  const { claim, answer } = result;
  await database.asEnvironment(environment, (transaction) =>
    transaction.query(sql.type(noRows)`
      UPDATE idempotency_keys
      SET state = 'answered', answer_status = ${answer.status},
          answer_headers = ${sql.jsonb(answer.headers)}, answer_body = ${answer.body}
      WHERE ${isOfEnvironment} AND key = ${claim.key} AND claim_id = ${claim.claimId}`),
  );
}

/** Frees the key after an answer that is not stored, unless something was written under it. */
export async function releaseClaim(
  database: BillingDatabase,
  environment: Environment,
  claim: IdempotencyClaim,
): Promise<void> {
  await database.asEnvironment(environment, (transaction) =>
    transaction.query(sql.type(noRows)`
      DELETE FROM idempotency_keys
      WHERE ${isOfEnvironment} AND key = ${claim.key} AND claim_id = ${claim.claimId} AND state = 'running'`),
  );
}

const removedRow = z.object({ removed: z.number().int() });

/** Removes at most so many expired answers, of all environments, and returns how many. */
export async function removeExpiredKeys(
  tx: Pick<Transaction, 'one'>,
  { now, rowsMax }: { readonly now: InstantMs; readonly rowsMax: number },
): Promise<number> {
  const { removed } = await tx.one(sql.type(removedRow)`
    SELECT remove_expired_keys(${formatInstant(now)}::timestamptz, ${rowsMax}) AS removed`);
  return removed;
}
