import { mustGet } from '../../../runtime/failure.js';
import type { Unit } from '../../records/unit.js';
import { setPriceSequences, type PriceOwner } from './prices-store.js';

/**
 * Takes the next sequence of its owner for every price of a list, in its order. A price takes one
 * when it is made and when its end changes (docs/domain.md 5.1). The unit has locked the owners.
 */
export async function numberPrices(
  { tx }: Unit,
  ownerIds: readonly string[],
  owners: ReadonlyMap<string, PriceOwner>,
): Promise<readonly number[]> {
  const last = new Map([...owners].map(([id, { sequence }]) => [id, sequence]));
  const taken = ownerIds.map((id) => {
    const next = mustGet(last, id, 'the last sequence of an owner') + 1;
    last.set(id, next);
    return next;
  });
  await setPriceSequences(tx, new Map([...last].filter(([id]) => owners.get(id)?.isPlan === true)));
  return taken;
}
