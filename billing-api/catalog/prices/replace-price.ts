import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { isPriceRefusal } from '../../domain/price/price-refusal.js';
import { succeedingPrice, type PriceChangeBody } from '../../domain/price/succeeding-price.js';
import { accept, notPublished, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { withoutArchivedGroups } from '../groups/groups-store.js';
import { findMetersForUse } from '../meters/meters-store.js';
import { storePrices } from './create-prices.js';
import { endPrice, refuseEnd, lockPrice } from './end-price.js';
import { meterRefusal, refusalOfPrice } from './price-request.js';
import {
  passthroughFromParent,
  priceFromRow,
  priceToColumns,
  type PassthroughColumns,
  type PriceRow,
} from '../../declarations/catalog/price.resource.js';

/** A change that makes a successor. */
export type Replacement = {
  readonly change: PriceChangeBody;
  /** Null for now. */
  readonly fromMs: InstantMs | null;
  /** What the successor has in place of what the price says of itself. */
  readonly members: Partial<PassthroughColumns>;
};

/** Stores the successor, which takes over the lookup key and whatever the change leaves out. */
async function storeSuccessor(
  unit: Unit,
  price: PriceRow,
  { change, members, ...from }: Replacement,
): Promise<PriceRow> {
  const fromMs = from.fromMs ?? unit.now;
  const succeeding = succeedingPrice(priceFromRow(price), change, fromMs);
  if (isPriceRefusal(succeeding)) throw new Refused(refusalOfPrice(succeeding));
  const terms = { ...succeeding, isStartGiven: from.fromMs !== null };
  accept(
    meterRefusal(
      terms.meterId,
      await findMetersForUse(unit.tx, terms.meterId === null ? [] : [terms.meterId]),
    ),
  );
  const [grouped] = await withoutArchivedGroups(unit, [price]);
  const successor = {
    ...priceToColumns(terms),
    ...passthroughFromParent(grouped ?? price),
    lookup_key: price.lookup_key,
    commitment_time_buckets: price.commitment_time_buckets,
    ...members,
  };
  const stored = await storePrices(unit, { items: [successor], isBulk: false });
  return assertPresent(stored[0], 'the successor');
}

/**
 * Ends a price and stores its successor from that instant on (docs/domain.md 9.6).
 */
export async function replacePrice(
  unit: Unit,
  id: string,
  replacement: Replacement,
): Promise<PriceRow> {
  const locked = await lockPrice(unit, id);
  const { price, owner } = locked;
  if (owner.status !== 'published')
    throw new Refused(notPublished('owner of the price', owner.status));
  const fromMs = replacement.fromMs ?? unit.now;
  await refuseEnd(unit, price, { endMs: fromMs, member: 'effective_from' });
  await endPrice(unit, price, { end_date: fromMs, lookup_key: null });
  return storeSuccessor(unit, price, replacement);
}
