import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { formatInstant, HOUR_MS, type InstantMs } from '../../contract/instant.js';
import { instantColumn, noRows } from '../../sql/columns.js';
import type { IdempotencyClaim } from '../records/caller.js';
import type { BillingDatabase, Transaction } from '../records/unit.js';

const KEPT_MS = 24 * HOUR_MS;
/**
 * A claim that is older belongs to a process that died. Taking it over is safe at any age, since
 * the write of the old claim rolls itself back; waiting spares requests that are merely slow.
 */
const CLAIM_LEASE_MS = 90_000;

/** What a request is, for telling a repeat from another one under the same key. */
export type RequestIdentity = {
  readonly key: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** SHA-256 of the body as canonical JSON, 64 hex digits. */
  readonly bodyHash: string;
};

export type StoredAnswer = { readonly status: number; readonly body: string };

/**
 * What to do with a request: carry it out under a claim, give the stored answer again, or refuse:
 * `other-request` (the key names another one), `running` (the first call is still at work), `lost`
 * (it was carried out, but died before its answer was stored).
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
  answer_body: z.string().nullable(),
  expires_at: instantColumn,
});
type KeyRow = z.output<typeof keyRow>;

type ClaimRequest = {
  readonly environment: Environment;
  readonly request: RequestIdentity;
  readonly claimId: string;
  readonly now: InstantMs;
};

/** Inserts the claim; false when the key has a row. */
async function insertClaim(transaction: Transaction, wish: ClaimRequest): Promise<boolean> {
  const { environment, request, claimId, now } = wish;
  const result = await transaction.query(sql.type(noRows)`
    INSERT INTO idempotency_keys (tenant_id, environment_id, key, method, path, body_hash, state,
      claim_id, claimed_at, expires_at)
    VALUES (${environment.tenantId}, ${environment.environmentId}, ${request.key},
      ${request.method}, ${request.path}, decode(${request.bodyHash}, 'hex'), 'running',
      ${claimId}, ${formatInstant(now)}, ${formatInstant(now + KEPT_MS)})
    ON CONFLICT (tenant_id, environment_id, key) DO NOTHING`);
  return result.rowCount === 1;
}

async function lockKey(transaction: Transaction, key: string): Promise<KeyRow | null> {
  return transaction.maybeOne(sql.type(keyRow)`
    SELECT method, path, encode(body_hash, 'hex') AS body_hash, state, claimed_at, answer_status,
      answer_body, expires_at
    FROM idempotency_keys WHERE key = ${key} FOR UPDATE`);
}

async function takeOver(transaction: Transaction, wish: ClaimRequest): Promise<ClaimOutcome> {
  const { request, claimId, now } = wish;
  await transaction.query(sql.type(noRows)`
    UPDATE idempotency_keys
    SET method = ${request.method}, path = ${request.path},
        body_hash = decode(${request.bodyHash}, 'hex'), state = 'running', claim_id = ${claimId},
        claimed_at = ${formatInstant(now)}, expires_at = ${formatInstant(now + KEPT_MS)},
        answer_status = NULL, answer_body = NULL
    WHERE key = ${request.key}`);
  return { outcome: 'claimed', claim: { key: request.key, claimId } };
}

function isSameRequest(row: KeyRow, request: RequestIdentity): boolean {
  return (
    row.method === request.method && row.path === request.path && row.body_hash === request.bodyHash
  );
}

async function decideOnKnownKey(
  transaction: Transaction,
  wish: ClaimRequest,
  row: KeyRow,
): Promise<ClaimOutcome> {
  if (row.expires_at <= wish.now) return takeOver(transaction, wish);
  if (!isSameRequest(row, wish.request)) return { outcome: 'other-request' };
  if (row.state === 'answered') {
    const answer = { status: row.answer_status ?? 500, body: row.answer_body ?? '' };
    return { outcome: 'answered', answer };
  }
  if (row.claimed_at + CLAIM_LEASE_MS > wish.now) return { outcome: 'running' };
  return row.state === 'running' ? takeOver(transaction, wish) : { outcome: 'lost' };
}

/** Claims the key for a request, or says why not. Two simultaneous calls never both get it. */
export function claimKey(database: BillingDatabase, wish: ClaimRequest): Promise<ClaimOutcome> {
  return database.asEnvironment(wish.environment, async (transaction): Promise<ClaimOutcome> => {
    if (await insertClaim(transaction, wish)) {
      return { outcome: 'claimed', claim: { key: wish.request.key, claimId: wish.claimId } };
    }
    const row = await lockKey(transaction, wish.request.key);
    // The row can be gone only if it was released in between; the caller may simply try again.
    return row === null ? { outcome: 'running' } : decideOnKnownKey(transaction, wish, row);
  });
}

/** Keeps the answer for repeats, if the claim is still in force. */
export async function storeAnswer(
  database: BillingDatabase,
  environment: Environment,
  kept: { readonly claim: IdempotencyClaim; readonly answer: StoredAnswer },
): Promise<void> {
  const { claim, answer } = kept;
  await database.asEnvironment(environment, (transaction) =>
    transaction.query(sql.type(noRows)`
      UPDATE idempotency_keys
      SET state = 'answered', answer_status = ${answer.status}, answer_body = ${answer.body}
      WHERE key = ${claim.key} AND claim_id = ${claim.claimId}`),
  );
}

/** Gives the key free after an answer that is not kept, unless something was written under it. */
export async function releaseClaim(
  database: BillingDatabase,
  environment: Environment,
  claim: IdempotencyClaim,
): Promise<void> {
  await database.asEnvironment(environment, (transaction) =>
    transaction.query(sql.type(noRows)`
      DELETE FROM idempotency_keys
      WHERE key = ${claim.key} AND claim_id = ${claim.claimId} AND state = 'running'`),
  );
}

/** Removes answers older than 24 hours, of all environments. */
export async function removeExpiredKeys(database: BillingDatabase, now: InstantMs): Promise<void> {
  await database.slonik.query(sql.type(noRows)`
    DELETE FROM idempotency_keys WHERE expires_at <= ${formatInstant(now)}::timestamptz`);
}
