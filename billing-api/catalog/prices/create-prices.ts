import { isLive } from '../../domain/price/matching-prices.js';
import { createRecords } from '../../records/create-record.js';
import {
  collect,
  invalid,
  isRefusal,
  notFound,
  type Refusal,
  type RequestItems,
} from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { findMetersForUse } from '../meters/meters-store.js';
import type { MeterRow } from '../meters/meter.resource.js';
import type { PlanRow } from '../plans/plan.resource.js';
import { lockPublishedPlans } from '../plans/plans-store.js';
import {
  meterRefusal,
  ownerOfCommand,
  termsOfCommand,
  type PriceCommand,
} from './price-request.js';
import {
  PRICES,
  priceToColumns,
  type NewPriceRow,
  type PassthroughColumns,
  type PriceRow,
  type TermColumns,
} from './price.resource.js';
import { countLivePrices, setPriceSequences } from './prices-store.js';

const LIVE_PRICES_MAX = 5_000;

/** A price of a request with the plan that it is for. */
type PlanPrice = { readonly command: PriceCommand; readonly planId: string };

/** Other owners than plans cannot exist yet. */
function planPriceOf(command: PriceCommand): PlanPrice | Refusal {
  const owner = ownerOfCommand(command);
  if (isRefusal(owner)) return owner;
  if (owner.entityType === 'ADDON') return notFound('addon', owner.entityId);
  if (owner.entityType === 'SUBSCRIPTION') {
    return invalid({ subscription_id: 'prices of one subscription are not available yet' });
  }
  return { command, planId: owner.entityId };
}

type Catalog = {
  readonly plans: ReadonlyMap<string, PlanRow>;
  readonly meters: ReadonlyMap<string, MeterRow>;
};

/** A price that keeps every rule, without its place among the others of the plan. */
type UnnumberedPrice = TermColumns & PassthroughColumns;

function unnumberedPriceOf(
  { command, planId }: PlanPrice,
  { plans, meters }: Catalog,
  { now }: Unit,
): UnnumberedPrice | Refusal {
  if (!plans.has(planId)) return notFound('plan', planId);
  const refusal = meterRefusal(command.body.meter_id ?? null, meters);
  if (refusal !== null) return refusal;
  const terms = termsOfCommand(command, { entityType: 'PLAN', entityId: planId }, now);
  return isRefusal(terms) ? terms : { ...priceToColumns(terms), ...command.passthrough };
}

/** Refuses what would give a plan more than 5,000 live prices. */
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
      return invalid({ entity_id: `a plan can have at most ${LIVE_PRICES_MAX} live prices` });
    }
  }
  return null;
}

/** Gives every price the next number of its plan; and the last numbers of the plans. */
function numberPrices(
  prices: readonly UnnumberedPrice[],
  plans: ReadonlyMap<string, PlanRow>,
): { readonly rows: readonly NewPriceRow[]; readonly sequences: ReadonlyMap<string, number> } {
  const sequences = new Map([...plans].map(([id, plan]) => [id, plan.price_sequence]));
  const rows = prices.map((price) => {
    const sequence = (sequences.get(price.entity_id) ?? 0) + 1;
    sequences.set(price.entity_id, sequence);
    return { ...price, commitment_time_buckets: null, sequence };
  });
  return { rows, sequences };
}

/** Stores all prices, in the order of the commands, or none. */
export async function createPricesOfPlans(
  unit: Unit,
  request: RequestItems<PriceCommand>,
): Promise<readonly PriceRow[] | Refusal> {
  const { isBulk } = request;
  const planPrices = collect(request, planPriceOf);
  if (isRefusal(planPrices)) return planPrices;
  const planIds = planPrices.map(({ planId }) => planId);
  const meterIds = planPrices.flatMap(({ command }) => command.body.meter_id ?? []);
  const plans = await lockPublishedPlans(unit.tx, planIds);
  const catalog = { plans, meters: await findMetersForUse(unit.tx, meterIds) };
  const prices = collect({ items: planPrices, isBulk }, (price) =>
    unnumberedPriceOf(price, catalog, unit),
  );
  if (isRefusal(prices)) return prices;
  const tooMany = await tooManyRefusal(unit, prices);
  if (tooMany !== null) return tooMany;
  const { rows, sequences } = numberPrices(prices, plans);
  const stored = await createRecords(unit, PRICES, { items: rows, isBulk });
  if (isRefusal(stored)) return stored;
  await setPriceSequences(unit.tx, sequences);
  return stored;
}
