import { isLive } from '../../domain/price/matching-prices.js';
import { createRecords } from '../../records/create-record.js';
import { collect, invalid, isRefusal, Refusal, type RequestItems } from '../../records/refusal.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { Unit } from '../../records/unit.js';
import { findMetersForUse } from '../meters/meters-store.js';
import { keyOf, lockOwners, type NamedOwner, type OwnerRecord } from '../../owners/lock-owners.js';
import { findPriceUnitsForUse, type PriceUnitsByCode } from '../price-units/price-units-store.js';
import {
  meterRefusal,
  ownerOfCommand,
  termsOfCommand,
  unitCodesOf,
  type PriceCommand,
} from './price-request.js';
import {
  PRICES,
  priceToColumns,
  type NewPriceRow,
  type PassthroughColumns,
  type PriceRow,
  type TermColumns,
} from '../../declarations/catalog/price.resource.js';
import { numberPrices } from './number-prices.js';
import { countLivePrices } from './prices-store.js';

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

/** A subscription takes prices while it goes on, in its own currency. */
function ownerRefusal(owner: OwnerRecord, currency: string): Refusal | null {
  if (owner.entityType !== 'SUBSCRIPTION') return null;
  if (owner.row.subscription_status === 'cancelled') {
    return new Refusal('invalid_operation', 'the subscription is cancelled: it takes no prices');
  }
  if (owner.row.currency === currency) return null;
  return invalid({ currency: `must be ${owner.row.currency}, that of the subscription` });
}

function unnumberedPriceOf(
  { command, owner: named }: OwnedPrice,
  { owners, meters, units }: Catalog,
  { now }: Unit,
): UnnumberedPrice | Refusal {
  const owner = assertPresent(owners.get(keyOf(named)), 'the owner of a price');
  if (isRefusal(owner)) return owner;
  const refusal = meterRefusal(command.body.meter_id ?? null, meters);
  if (refusal !== null) return refusal;
  const { entityType, id: entityId } = owner;
  const terms = termsOfCommand(command, { entityType, entityId }, { now, units });
  if (isRefusal(terms)) return terms;
  const refused = ownerRefusal(owner, terms.currency);
  return refused ?? { ...priceToColumns(terms), ...command.passthrough };
}

/** Refuses what would give an owner more than 5,000 live prices. */
async function tooManyRefusal(
  { tx, now }: Unit,
  prices: readonly UnnumberedPrice[],
): Promise<Refusal | null> {
  const entityIds = [...new Set(prices.map((price) => price.entity_id))];
  const live = await countLivePrices(tx, { entityIds, now });
  for (const entityId of entityIds) {
    const added = prices.filter(
      ({ entity_id: id, end_date: endMs }) =>
        id === entityId && isLive({ status: 'published', endMs }, now),
    );
    if ((live.get(entityId) ?? 0) + added.length > LIVE_PRICES_MAX) {
      const owners = 'a plan, an addon or a subscription';
      return invalid({ entity_id: `${owners} can have at most ${LIVE_PRICES_MAX} live prices` });
    }
  }
  return null;
}

/** Stores prices of owners that the unit has locked, in their order, or none. */
export async function storePrices(
  unit: Unit,
  { items, isBulk }: RequestItems<UnnumberedPrice & Pick<NewPriceRow, 'commitment_time_buckets'>>,
): Promise<readonly PriceRow[] | Refusal> {
  const tooMany = await tooManyRefusal(unit, items);
  if (tooMany !== null) return tooMany;
  const sequences = await numberPrices(
    unit,
    items.map((price) => price.entity_id),
  );
  const rows = items.map((price, index) => ({ ...price, sequence: sequences[index] ?? 0 }));
  return createRecords(unit, PRICES, { items: rows, isBulk });
}

/** Stores all prices of a request, in the order of its commands, or none. */
export async function createOwnedPrices(
  unit: Unit,
  request: RequestItems<PriceCommand>,
): Promise<readonly PriceRow[] | Refusal> {
  const { isBulk } = request;
  const owned = collect(request, ownedPriceOf);
  if (isRefusal(owned)) return owned;
  const meterIds = owned.flatMap(({ command }) => command.body.meter_id ?? []);
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
  const prices = collect({ items: owned, isBulk }, (price) =>
    unnumberedPriceOf(price, catalog, unit),
  );
  if (isRefusal(prices)) return prices;
  const items = prices.map((price) => ({ ...price, commitment_time_buckets: null }));
  return storePrices(unit, { items, isBulk });
}
