import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { integerColumn, noRows } from '../../../sql/columns.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { Transaction } from '../../records/unit.js';
import { PRICES, type PriceRow } from '../../declarations/catalog/price.resource.js';

export async function findPrice(transaction: Transaction, id: string): Promise<PriceRow | null> {
  return transaction.maybeOne(sql.type(PRICES.row)`
    SELECT * FROM prices WHERE id = ${id} AND ${isOfEnvironment}`);
}

/** The published price with this lookup key. */
export async function findPriceByLookupKey(
  transaction: Transaction,
  lookupKey: string,
): Promise<PriceRow | null> {
  return transaction.maybeOne(sql.type(PRICES.row)`
    SELECT * FROM prices
    WHERE lookup_key = ${lookupKey} AND status = 'published' AND ${isOfEnvironment}`);
}

export async function findPrices(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PriceRow>> {
  if (ids.length === 0) return new Map();
  const rows = await transaction.any(sql.type(PRICES.row)`
    SELECT * FROM prices
    WHERE id = ANY (${sql.array([...new Set(ids)], 'text')}) AND ${isOfEnvironment}`);
  return new Map(rows.map((row) => [row.id, row]));
}

type LivePricesQuery = { readonly entityIds: readonly string[]; readonly now: InstantMs };

/**
 * Published prices of these owners that have not ended at `now` (docs/domain.md 9.4), oldest first;
 * no more than `rowsMax` of them.
 */
export async function findLivePrices(
  transaction: Transaction,
  owners: LivePricesQuery & { readonly rowsMax?: number },
): Promise<readonly PriceRow[]> {
  if (owners.entityIds.length === 0) return [];
  return transaction.any(sql.type(PRICES.row)`
    SELECT * FROM prices
    WHERE entity_id = ANY (${sql.array([...owners.entityIds], 'text')}) AND status = 'published'
      AND (end_date IS NULL OR end_date > ${formatInstant(owners.now)}::timestamptz)
      AND ${isOfEnvironment}
    ORDER BY created_at, sequence LIMIT ${owners.rowsMax ?? null}`);
}

/** How many live prices each of these owners has; owners without one are left out. */
export async function countLivePrices(
  transaction: Transaction,
  owners: LivePricesQuery,
): Promise<ReadonlyMap<string, number>> {
  const rows = await transaction.any(sql.type(
    z.object({ entity_id: z.string(), live: integerColumn }),
  )`
    SELECT entity_id, count(*) AS live FROM prices
    WHERE entity_id = ANY (${sql.array([...owners.entityIds], 'text')}) AND status = 'published'
      AND (end_date IS NULL OR end_date > ${formatInstant(owners.now)}::timestamptz)
      AND ${isOfEnvironment}
    GROUP BY entity_id`);
  return new Map(rows.map((row) => [row.entity_id, row.live]));
}

/** The price that takes the place of this one at its end; null when none does. */
export async function findSuccessorId(
  transaction: Transaction,
  price: PriceRow,
): Promise<string | null> {
  if (price.end_date === null) return null;
  return transaction.maybeOneFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM prices
    WHERE parent_price_id = ${price.parent_price_id ?? price.id} AND id <> ${price.id}
      AND entity_id = ${price.entity_id} AND status = 'published'
      AND start_date = ${formatInstant(price.end_date)}::timestamptz AND ${isOfEnvironment}
    ORDER BY created_at, id LIMIT 1`);
}

const sequenceRow = z.object({ owner_id: z.string(), sequence: z.number().int() });

/**
 * The sequence of the newest price of each of these owners, which the transaction has locked. A
 * plan knows its own, also of a price that was renumbered; others have that of their prices.
 */
export async function findLastSequences(
  transaction: Transaction,
  ownerIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const ids = sql.array([...new Set(ownerIds)], 'text');
  const rows = await transaction.any(sql.type(sequenceRow)`
    SELECT given.id AS owner_id, coalesce(
      (SELECT price_sequence FROM plans WHERE plans.id = given.id AND ${isOfEnvironment}),
      (SELECT max(sequence) FROM prices WHERE entity_id = given.id AND ${isOfEnvironment}),
      0) AS sequence
    FROM unnest(${ids}) AS given (id)`);
  return new Map(rows.map((row) => [row.owner_id, row.sequence]));
}

/** Moves the sequences of plans on, which the transaction has locked; other owners have none. */
export async function setPriceSequences(
  transaction: Transaction,
  sequences: ReadonlyMap<string, number>,
): Promise<void> {
  for (const [planId, sequence] of sequences) {
    await transaction.query(sql.type(noRows)`
      UPDATE plans SET price_sequence = ${sequence} WHERE id = ${planId} AND ${isOfEnvironment}`);
  }
}
