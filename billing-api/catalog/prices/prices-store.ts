import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { integerColumn, noRows } from '../../../sql/columns.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
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

const ownerRow = z.object({
  owner_id: z.string(),
  is_plan: z.boolean(),
  sequence: z.number().int(),
  live: integerColumn,
});

/** What the next prices of an owner follow. */
export type PriceOwner = {
  /** A plan keeps its sequence; other owners have that of their prices. */
  readonly isPlan: boolean;
  /** Of its newest price; that of a plan counts prices that were renumbered, too. */
  readonly sequence: number;
  /** How many published prices have not ended. */
  readonly live: number;
};

/** What the next prices of these owners follow, which the transaction has locked or made. */
export async function findPriceOwners(
  transaction: Transaction,
  { entityIds, now }: LivePricesQuery,
): Promise<ReadonlyMap<string, PriceOwner>> {
  const rows = await transaction.any(sql.type(ownerRow)`
    SELECT given.id AS owner_id, plan.id IS NOT NULL AS is_plan,
      coalesce(plan.price_sequence, priced.sequence, 0) AS sequence, priced.live
    FROM unnest(${sql.array([...new Set(entityIds)], 'text')}) AS given (id)
    LEFT JOIN plans AS plan ON plan.id = given.id AND ${rowIsOfEnvironment('plan')}
    CROSS JOIN LATERAL (
      SELECT max(sequence) AS sequence, count(*) FILTER (WHERE status = 'published'
        AND (end_date IS NULL OR end_date > ${formatInstant(now)}::timestamptz)) AS live
      FROM prices WHERE entity_id = given.id AND ${isOfEnvironment}) AS priced`);
  return new Map(
    rows.map(({ owner_id: id, is_plan: isPlan, sequence, live }) => [
      id,
      { isPlan, sequence, live },
    ]),
  );
}

/** Moves the sequences of plans on, which the transaction has locked. */
export async function setPriceSequences(
  transaction: Transaction,
  sequences: ReadonlyMap<string, number>,
): Promise<void> {
  if (sequences.size === 0) return;
  await transaction.query(sql.type(noRows)`
    UPDATE plans AS plan SET price_sequence = given.sequence
    FROM ${sql.unnest([...sequences], ['text', 'int4'])} AS given (id, sequence)
    WHERE plan.id = given.id AND ${rowIsOfEnvironment('plan')}`);
}
