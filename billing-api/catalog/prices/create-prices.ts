import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { completePrice } from '../../domain/price/complete-price.js';
import { isLive } from '../../domain/price/matching-prices.js';
import type { PriceTerms } from '../../domain/price/price.js';
import { requestedOwnerOf } from '../../domain/price/price-owner.js';
import { isPriceRefusal, type PriceRefusal } from '../../domain/price/price-request.js';
import type { MeterRow } from '../meters/meter.resource.js';
import { findMetersForUse } from '../meters/meters-store.js';
import type { PlanRow } from '../plans/plan.resource.js';
import { lockPublishedPlans } from '../plans/plans-store.js';
import { priceTermsToColumns } from './price-terms.js';
import { countLivePrices, insertPlanPrices, type PriceRow } from './prices-store.js';
import { newRecordColumns, type NewRow } from '../../records/records.js';
import { type Transaction, type WriteDependencies, writeUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import type { PriceCommand } from './price-command.js';
import { alreadyExists, invalid, isRefusal, notFound, Refusal } from '../../records/refusal.js';

const LIVE_PRICES_MAX = 5_000;

function invalidPrice(refusal: PriceRefusal): Refusal {
  return invalid({ [refusal.member]: refusal.remedy });
}

/** The id of the plan that owns the price; other owners cannot exist yet. */
function planIdOf(command: PriceCommand): string | Refusal {
  const owner = requestedOwnerOf(command.request);
  if (isPriceRefusal(owner)) return invalidPrice(owner);
  if (owner.entityType === 'ADDON') return notFound('addon', owner.entityId);
  if (owner.entityType === 'SUBSCRIPTION') {
    return invalid({ subscription_id: 'prices of one subscription are not available yet' });
  }
  return owner.entityId;
}

/** Runs over the prices in order; a refusal of a bulk request names the index of its price. */
function eachPrice<T>(
  commands: readonly PriceCommand[],
  isBulk: boolean,
  read: (command: PriceCommand, index: number) => T | Refusal,
): readonly T[] | Refusal {
  const results: T[] = [];
  for (const [index, command] of commands.entries()) {
    const result = read(command, index);
    if (isRefusal(result)) return isBulk ? indexedRefusal(result, index) : result;
    results.push(result);
  }
  return results;
}

function indexedRefusal(refusal: Refusal, index: number): Refusal {
  const details = Object.entries(refusal.details ?? {});
  const named = details.map(([name, text]) => [`items.${index}.${name}`, text] as const);
  return new Refusal(
    refusal.code,
    `items.${index}: ${refusal.message}`,
    named.length === 0 ? { [`items.${index}`]: refusal.message } : Object.fromEntries(named),
  );
}

type Catalog = {
  readonly now: InstantMs;
  readonly plans: ReadonlyMap<string, PlanRow>;
  readonly meters: ReadonlyMap<string, MeterRow>;
};

function meterRefusal(command: PriceCommand, catalog: Catalog): Refusal | null {
  const meterId = command.request.meterId ?? null;
  if (meterId === null) return null;
  const meter = catalog.meters.get(meterId);
  if (meter === undefined) return notFound('meter', meterId);
  return meter.status === 'published' ? null : invalid({ meter_id: 'is not published' });
}

function termsOf(command: PriceCommand, planId: string, catalog: Catalog): PriceTerms | Refusal {
  const plan = catalog.plans.get(planId);
  if (plan === undefined) return notFound('plan', planId);
  const refusal = meterRefusal(command, catalog);
  if (refusal !== null) return refusal;
  const terms = completePrice(command.request, {
    nowMs: catalog.now,
    owner: { entityType: 'PLAN', entityId: plan.id },
    priceUnit: null,
  });
  return isPriceRefusal(terms) ? invalidPrice(terms) : terms;
}

/** Counts what each owner would have; a plan cannot hold more than 5 000 live prices. */
async function tooManyRefusal(
  transaction: Transaction,
  terms: readonly PriceTerms[],
  now: InstantMs,
): Promise<Refusal | null> {
  const entityIds = [...new Set(terms.map((price) => price.entityId))];
  const live = await countLivePrices(transaction, { entityIds, now });
  for (const entityId of entityIds) {
    const added = terms.filter(
      (price) => price.entityId === entityId && isLive({ ...price, status: 'published' }, now),
    );
    if ((live.get(entityId) ?? 0) + added.length > LIVE_PRICES_MAX) {
      return invalid({ entity_id: `would have more than ${LIVE_PRICES_MAX} live prices` });
    }
  }
  return null;
}

type NewPrices = {
  readonly caller: Caller;
  readonly now: InstantMs;
  readonly ids: readonly string[];
  readonly commands: readonly PriceCommand[];
  readonly isBulk: boolean;
};

/** Gives every price the next number of its plan. */
function numberedRows(
  prices: NewPrices,
  terms: readonly PriceTerms[],
  plans: ReadonlyMap<string, PlanRow>,
): { readonly rows: readonly NewRow[]; readonly sequences: ReadonlyMap<string, number> } {
  const sequences = new Map([...plans].map(([id, plan]) => [id, plan.price_sequence]));
  const rows = terms.map((price, index): NewRow => {
    const sequence = (sequences.get(price.entityId) ?? 0) + 1;
    sequences.set(price.entityId, sequence);
    const id = assertPresent(prices.ids[index], 'an id for every price');
    return {
      ...newRecordColumns(prices.caller, id, prices.now),
      ...priceTermsToColumns(price),
      ...prices.commands[index]?.kept,
      sequence,
    };
  });
  return { rows, sequences };
}

async function storePrices(
  transaction: Transaction,
  prices: NewPrices,
): Promise<readonly PriceRow[] | Refusal> {
  const { commands, isBulk, now } = prices;
  const planIds = eachPrice(commands, isBulk, planIdOf);
  if (isRefusal(planIds)) return planIds;
  const plans = await lockPublishedPlans(transaction, planIds);
  const meterIds = commands.flatMap((command) => command.request.meterId ?? []);
  const catalog: Catalog = { now, plans, meters: await findMetersForUse(transaction, meterIds) };
  const terms = eachPrice(commands, isBulk, (command, index) =>
    termsOf(command, planIds[index] ?? '', catalog),
  );
  if (isRefusal(terms)) return terms;
  const tooMany = await tooManyRefusal(transaction, terms, now);
  if (tooMany !== null) return tooMany;
  const { rows, sequences } = numberedRows(prices, terms, plans);
  const stored = await insertPlanPrices(transaction, rows, sequences);
  return inRequestOrder(prices, stored);
}

/** A price that was left out repeats a lookup key, of a stored price or of the same request. */
function inRequestOrder(
  prices: NewPrices,
  stored: readonly PriceRow[],
): readonly PriceRow[] | Refusal {
  const byId = new Map(stored.map((row) => [row.id, row]));
  return eachPrice(prices.commands, prices.isBulk, (_command, index) => {
    const row = byId.get(prices.ids[index] ?? '');
    return row ?? alreadyExists('price', 'lookup_key');
  });
}

/** POST /prices and POST /prices/bulk: all prices of the request, in its order, or none. */
export async function createPrices(
  { database, clock, createId }: WriteDependencies,
  caller: Caller,
  request: { readonly commands: readonly PriceCommand[]; readonly isBulk: boolean },
): Promise<readonly PriceRow[] | Refusal> {
  const ids = request.commands.map(() => createId('price')).sort();
  const prices: NewPrices = { ...request, caller, ids, now: clock.now() };
  return writeUnit({ database, clock, createId }, caller, ({ tx: transaction }) =>
    storePrices(transaction, prices),
  );
}
