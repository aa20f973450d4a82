import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type { Occasion } from '../../records/occasion.js';
import { lockForChange, updateRecord } from '../../records/change-record.js';
import { findRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { invalid, notFound, type Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import { lockOwnerOf } from '../../owners/lock-owners.js';
import { numberPrices } from './number-prices.js';
import type { EndPriceBody } from '../../declarations/catalog/price-bodies.js';
import { PRICES, type PriceRow } from '../../declarations/catalog/price.resource.js';
import { findPriceOwners, findSuccessorId } from './prices-store.js';

/** A price that nobody else can end meanwhile, with the state of its owner. */
type LockedPrice = { readonly price: PriceRow; readonly owner: { readonly status: string } };

/** Locks a price behind its owner, as whoever stores prices locks the owner first. */
export async function lockPrice(unit: Unit, id: string): Promise<LockedPrice> {
  const seen = await findRecord(unit, PRICES, id);
  if (seen === null) throw new Refused(notFound('price', id));
  const owner = await lockOwnerOf(unit, seen);
  const price = await lockForChange(unit, PRICES, { id });
  return { price, owner };
}

type EndMember = 'end_date' | 'effective_from';

/**
 * Refuses that a price ends at an instant where it has ended, another price has taken its place, or
 * the instant does not lie between its start and its present end.
 */
export async function refuseEnd(
  unit: Unit,
  price: PriceRow,
  { endMs, member }: { readonly endMs: InstantMs; readonly member: EndMember },
): Promise<void> {
  const { start_date: startMs, end_date: knownMs } = price;
  if (knownMs !== null && knownMs <= unit.now) {
    throw new Refused(invalid({ [member]: `the price has ended at ${formatInstant(knownMs)}` }));
  }
  const successor = await findSuccessorId(unit.tx, price);
  if (successor !== null) {
    throw new Refused(
      invalid({ [member]: `price ${successor} takes its place: change or end that one` }),
    );
  }
  if (endMs < startMs) {
    throw new Refused(
      invalid({ [member]: `must not be before its start, ${formatInstant(startMs)}` }),
    );
  }
  if (knownMs === null || endMs < knownMs) return;
  // A successor needs time of its own; the same end once more is no harm.
  if (endMs === knownMs && member === 'end_date') return;
  throw new Refused(
    invalid({ [member]: `must lie before its present end, ${formatInstant(knownMs)}` }),
  );
}

/** Ends a locked price; subscriptions that have it keep it (docs/domain.md 9.6). */
export async function endPrice(
  unit: Unit,
  price: PriceRow,
  patch: { readonly end_date: InstantMs; readonly lookup_key?: null },
): Promise<PriceRow> {
  const ownerIds = [price.entity_id];
  const owners = await findPriceOwners(unit.tx, { entityIds: ownerIds, now: unit.now });
  const [sequence] = await numberPrices(unit, ownerIds, owners);
  const numbered = sequence === undefined ? patch : { ...patch, sequence };
  return updateRecord(unit, PRICES, { row: price, patch: numbered });
}

/** DELETE /prices/{id}: the price ends; new subscriptions do not get it from then on. */
export async function removePrice(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { id, body }: { readonly id: string; readonly body: EndPriceBody },
): Promise<PriceRow | Refusal> {
  const reader = new MemberReader();
  const given = reader.instant('end_date', body.end_date);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    const locked = await lockPrice(unit, id);
    const { price } = locked;
    const endMs = given ?? unit.now;
    await refuseEnd(unit, price, { endMs, member: 'end_date' });
    return endPrice(unit, price, { end_date: endMs });
  });
}
