import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { isLive } from '../../domain/price/matching-prices.js';
import { createRecords } from '../../records/create-record.js';
import {
  accept,
  collect,
  invalid,
  isRefusal,
  Refusal,
  Refused,
  type RequestItems,
} from '../../records/refusal.js';
import { assertPresent, zip } from '../../../runtime/failure.js';
import type { Unit } from '../../records/unit.js';
import { findMetersForUse } from '../meters/meters-store.js';
import { keyOf, lockOwners, type NamedOwner, type OwnerRecord } from '../../owners/lock-owners.js';
import { findPriceUnitsForUse, type PriceUnitsByCode } from '../price-units/price-units-store.js';
import { checkedTerms, ownerOfCommand, unitCodesOf, type PriceCommand } from './price-request.js';
import {
  PRICES,
  priceToColumns,
  type NewPriceRow,
  type PassthroughColumns,
  type PriceRow,
  type TermColumns,
} from '../../declarations/catalog/price.resource.js';
import { numberPrices } from './number-prices.js';
import { findPriceOwners, type PriceOwner } from './prices-store.js';

const LIVE_PRICES_MAX = 5_000;

/** A price of a request with the owner that it names. */
type OwnedPrice = { readonly command: PriceCommand; readonly owner: NamedOwner };

function ownedPriceOf(command: PriceCommand): OwnedPrice | Refusal {
  const owner = ownerOfCommand(command);
  if (isRefusal(owner)) return owner;
  return { command, owner: { id: owner.entityId, type: owner.entityType } };
}

type Catalog = {
  readonly owners: ReadonlyMap<string, OwnerRecord | Refusal>;
  readonly meters: Awaited<ReturnType<typeof findMetersForUse>>;
  readonly units: PriceUnitsByCode;
};

/** A price that keeps every rule, without its place among the others of its owner. */
export type UnnumberedPrice = TermColumns & PassthroughColumns;

/** A subscription takes prices while it goes on. */
function ownerRefusal(owner: OwnerRecord): Refusal | null {
  if (owner.entityType !== 'SUBSCRIPTION') return null;
  const { subscription_status: status } = owner.row;
  if (isIn(SUBSCRIPTION, 'alive', status)) return null;
  return new Refusal('invalid_operation', `the subscription is ${status}: it takes no prices`);
}

function unnumberedPriceOf(
  { command, owner: named }: OwnedPrice,
  { owners, meters, units }: Catalog,
  { now }: Unit,
): UnnumberedPrice {
  const owner = accept(assertPresent(owners.get(keyOf(named)), 'the owner of a price'));
  const { entityType, id: entityId } = owner;
  const currency = owner.entityType === 'SUBSCRIPTION' ? owner.row.currency : null;
  const ofOwner = { entityType, entityId, currency };
  const terms = accept(checkedTerms(command, ofOwner, { now, units, meters }));
  return accept(ownerRefusal(owner) ?? { ...priceToColumns(terms), ...command.passthrough });
}

/** Prices that are to be stored, with what they follow. */
type NumberedPrices = {
  readonly prices: readonly UnnumberedPrice[];
  readonly owners: ReadonlyMap<string, PriceOwner>;
};

/** Refuses what would give an owner more than 5,000 live prices; `member` is where they stand. */
function refuseTooMany({ now }: Unit, { prices, owners }: NumberedPrices, member: string): void {
  for (const [entityId, { live }] of owners) {
    const added = prices.filter(
      ({ entity_id: id, end_date: endMs }) =>
        id === entityId && isLive({ status: 'published', endMs }, now),
    );
    if (live + added.length > LIVE_PRICES_MAX) {
      const owner = 'a plan, an addon or a subscription';
      throw new Refused(
        invalid({ [member]: `${owner} can have at most ${LIVE_PRICES_MAX} live prices` }),
      );
    }
  }
}

/** A price to store, with the id that its owner's records name, where they do. */
export type StorablePrice = UnnumberedPrice & Pick<NewPriceRow, 'commitment_time_buckets' | 'id'>;

/**
 * Stores prices of owners that the unit has locked or made, in their order, or none: every price
 * is stored here, so that each takes a number and counts among the live ones of its owner.
 * @param member The member of the request that a refusal of too many names.
 */
export async function storePrices(
  unit: Unit,
  { items, isBulk }: RequestItems<StorablePrice>,
  member = 'entity_id',
): Promise<readonly PriceRow[]> {
  if (items.length === 0) return [];
  const entityIds = items.map((price) => price.entity_id);
  const owners = await findPriceOwners(unit.tx, { entityIds, now: unit.now });
  refuseTooMany(unit, { prices: items, owners }, member);
  const sequences = await numberPrices(unit, entityIds, owners);
  const rows = zip(items, sequences).map(([price, sequence]) => ({ ...price, sequence }));
  return createRecords(unit, PRICES, { items: rows, isBulk });
}

/** Stores all prices of a request, in the order of its commands, or none. */
export async function createOwnedPrices(
  unit: Unit,
  request: RequestItems<PriceCommand>,
): Promise<readonly PriceRow[]> {
  const { isBulk } = request;
  const owned = accept(collect(request, ownedPriceOf));
  const named = owned.map(({ command }) => command.body.meter_id);
  const meterIds = named.filter((id) => id !== undefined);
  const owners = await lockOwners(
    unit,
    owned.map(({ owner }) => owner),
  );
  const codes = unitCodesOf(owned.map(({ command }) => command));
  const catalog = {
    owners,
    meters: await findMetersForUse(unit.tx, meterIds),
    units: await findPriceUnitsForUse(unit.tx, codes),
  };
  const prices = accept(
    collect({ items: owned, isBulk }, (price) => unnumberedPriceOf(price, catalog, unit)),
  );
  const items = prices.map((price) => ({ ...price, commitment_time_buckets: null }));
  return storePrices(unit, { items, isBulk });
}
