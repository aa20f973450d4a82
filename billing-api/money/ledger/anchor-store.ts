import { createHash } from 'node:crypto';
import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn, integerColumn, noRows } from '../../../sql/columns.js';
import {
  HEADS_HEADER,
  headLines,
  type LedgerAnchor,
  type LedgerHead,
} from '../../domain/ledger/anchor-text.js';
import { CURRENT_ENVIRONMENT, isOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';

/** An anchor as it is stored, with the key that has signed it. */
export type SignedAnchor = LedgerAnchor & {
  readonly publicKey: string;
  readonly signature: string;
};

const anchorRow = z
  .object({
    number: integerColumn,
    anchored_at: instantColumn,
    customer_count: integerColumn,
    movement_count: integerColumn,
    root: z.string(),
    previous: z.string(),
    public_key: z.string(),
    signature: z.string(),
  })
  .transform(({ number, root, previous, signature, ...row }) => ({
    number,
    anchoredAt: row.anchored_at,
    customers: row.customer_count,
    movements: row.movement_count,
    root,
    previous,
    publicKey: row.public_key,
    signature,
  }));

/** The last anchor of the environment; null before the first. */
export function findLastAnchor({ tx }: StatementUnit): Promise<SignedAnchor | null> {
  return tx.maybeOne(sql.type(anchorRow)`
    SELECT number, anchored_at, customer_count, movement_count, root, previous, public_key, signature
    FROM ledger_anchors WHERE ${isOfEnvironment} ORDER BY number DESC LIMIT 1`);
}

/** Whether one of the anchors has this signature. */
export function hasAnchor({ tx }: StatementUnit, signature: string): Promise<boolean> {
  return tx.exists(sql.type(z.unknown())`
    SELECT FROM ledger_anchors WHERE signature = ${signature} AND ${isOfEnvironment}`);
}

export async function storeAnchor({ tx }: StatementUnit, anchor: SignedAnchor): Promise<void> {
  await tx.query(sql.type(noRows)`
    INSERT INTO ledger_anchors (tenant_id, environment_id, number, anchored_at, customer_count,
      movement_count, root, previous, public_key, signature)
    SELECT ${CURRENT_ENVIRONMENT}, ${anchor.number}::bigint,
      ${formatInstant(anchor.anchoredAt)}::timestamptz, ${anchor.customers}::bigint,
      ${anchor.movements}::bigint, ${anchor.root}, ${anchor.previous}, ${anchor.publicKey},
      ${anchor.signature}`);
}

const headRow = z
  .object({ customer_id: z.string(), position: integerColumn, hash: z.string() })
  .transform(({ customer_id: customerId, ...others }) => ({ customerId, ...others }));

/** Heads that are read at once. */
export const HEADS_AT_ONCE = 10_000;

/** The heads of the last anchor behind a customer, in the order of the list. */
export function readAnchoredHeads(
  { tx }: StatementUnit,
  behind: string,
): Promise<readonly LedgerHead[]> {
  return tx.any(sql.type(headRow)`
    SELECT customer_id, position, hash FROM ledger_anchored_heads
    WHERE customer_id > ${behind} AND ${isOfEnvironment}
    ORDER BY customer_id LIMIT ${HEADS_AT_ONCE}`);
}

/** What an anchor says of the list of heads. */
export async function digestHeads(
  unit: StatementUnit,
): Promise<Pick<LedgerAnchor, 'customers' | 'movements' | 'root'>> {
  const hash = createHash('sha256').update(HEADS_HEADER);
  let [customers, movements, behind] = [0, 0, ''];
  for (;;) {
    const heads = await readAnchoredHeads(unit, behind);
    hash.update(headLines(heads));
    customers += heads.length;
    for (const { position } of heads) movements += position;
    const last = heads.at(-1);
    if (last === undefined) return { customers, movements, root: hash.digest('hex') };
    behind = last.customerId;
  }
}
