import { createRecords } from '../../records/create-record.js';
import { ownColumnsOf } from '../../records/resource.js';
import type { Unit } from '../../records/unit.js';
import { withoutArchivedGroups } from '../groups/groups-store.js';
import { PRICES } from '../../declarations/catalog/price.resource.js';
import { findLivePrices, setPriceSequences } from './prices-store.js';

/** Gives a new plan the live prices of another (docs/domain.md 9.4), without their lookup keys. */
export async function copyPrices(
  unit: Unit,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const live = await findLivePrices(unit.tx, { entityIds: [from], now: unit.now });
  const prices = await withoutArchivedGroups(unit, live);
  const items = prices.map((price, index) => ({
    ...ownColumnsOf(PRICES, price),
    entity_id: to,
    lookup_key: null,
    parent_price_id: null,
    sequence: index + 1,
    metadata: price.metadata,
  }));
  await createRecords(unit, PRICES, { items, isBulk: false });
  await setPriceSequences(unit.tx, new Map([[to, items.length]]));
}
