import type { InstantMs } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';
import type { MeterRow } from '../meters/meter.resource.js';
import { findMeters } from '../meters/meters-store.js';
import type { PlanRow } from '../plans/plan.resource.js';
import { findPlans } from '../plans/plans-store.js';
import { PRICES, findPrice, findPriceByLookupKey, type PriceRow } from './prices-store.js';
import {
  endsAfter,
  isBefore,
  isEqual,
  isOneOf,
  type Conditions,
} from '../../records/conditions.js';
import { searchTable, type Page } from '../../records/search-table.js';
import { type ReadDependencies, type Transaction, readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { MemberReader } from '../../records/member-rules.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import {
  readSearch,
  type SearchBodyRequest,
  type SearchCommand,
} from '../../records/search-request.js';

export type PriceExpandable = 'meter' | 'group' | 'pricing_unit' | 'plan' | 'addon';
const EXPANDABLE: readonly PriceExpandable[] = ['meter', 'group', 'pricing_unit', 'plan', 'addon'];

export type PriceSearchRequest = SearchBodyRequest & {
  readonly price_ids?: readonly string[] | undefined;
  readonly plan_ids?: readonly string[] | undefined;
  readonly entity_type?: string | undefined;
  readonly entity_ids?: readonly string[] | undefined;
  readonly subscription_id?: string | undefined;
  readonly parent_price_id?: string | undefined;
  readonly meter_ids?: readonly string[] | undefined;
  readonly billing_periods?: readonly string[] | undefined;
  readonly allow_expired_prices?: boolean | undefined;
  readonly start_date_lt?: string | undefined;
};

/** What prices refer to, as far as it was asked for. */
export type PriceSurroundings = {
  readonly meters: ReadonlyMap<string, MeterRow>;
  readonly plans: ReadonlyMap<string, PlanRow>;
  readonly names: ReadonlySet<PriceExpandable>;
};

export async function findSurroundings(
  transaction: Transaction,
  prices: readonly PriceRow[],
  names: ReadonlySet<PriceExpandable>,
): Promise<PriceSurroundings> {
  const meterIds = names.has('meter') ? prices.flatMap((price) => price.meter_id ?? []) : [];
  const planIds = names.has('plan') ? prices.map((price) => price.entity_id) : [];
  return {
    meters: await findMeters(transaction, meterIds),
    plans: await findPlans(transaction, planIds),
    names,
  };
}

export type PriceReading = { readonly price: PriceRow; readonly surroundings: PriceSurroundings };

/** GET /prices/{id} and GET /prices/lookup/{lookup_key}, with all they refer to. */
export function readPrice(
  { database }: ReadDependencies,
  caller: Caller,
  reference: { readonly id: string } | { readonly lookupKey: string },
): Promise<PriceReading | Refusal> {
  return readUnit({ database }, caller.environment, async ({ tx: transaction }) => {
    const isById = 'id' in reference;
    const price = isById
      ? await findPrice(transaction, reference.id)
      : await findPriceByLookupKey(transaction, reference.lookupKey);
    if (price === null) return notFound('price', isById ? reference.id : reference.lookupKey);
    const surroundings = await findSurroundings(transaction, [price], new Set(EXPANDABLE));
    return { price, surroundings };
  });
}

/** What prices that were just created refer to, so that they are answered as they are read. */
export function readSurroundings(
  { database }: ReadDependencies,
  caller: Caller,
  prices: readonly PriceRow[],
): Promise<PriceSurroundings> {
  return readUnit({ database }, caller.environment, ({ tx: transaction }) =>
    findSurroundings(transaction, prices, new Set(EXPANDABLE)),
  );
}

function priceConditions(
  request: PriceSearchRequest,
  startBeforeMs: InstantMs | null,
  now: InstantMs,
): Conditions<string> {
  return [
    ...isOneOf('id', request.price_ids),
    ...(request.plan_ids === undefined ? [] : isEqual('entity_type', 'PLAN')),
    ...isOneOf('entity_id', request.plan_ids),
    ...isEqual('entity_type', request.entity_type),
    ...isOneOf('entity_id', request.entity_ids),
    ...(request.subscription_id === undefined ? [] : isEqual('entity_type', 'SUBSCRIPTION')),
    ...isEqual('entity_id', request.subscription_id),
    ...isEqual('parent_price_id', request.parent_price_id),
    ...isOneOf('meter_id', request.meter_ids),
    ...isOneOf('billing_period', request.billing_periods),
    ...(request.allow_expired_prices === true ? [] : endsAfter('end_date', now)),
    ...isBefore('start_date', startBeforeMs),
  ];
}

export type PricePage = Page<PriceRow> & {
  readonly command: SearchCommand<PriceExpandable>;
  readonly surroundings: PriceSurroundings;
};

/** POST /prices/search; prices that have ended only on request. */
export async function searchPrices(
  { database, clock }: ReadDependencies & { readonly clock: Clock },
  caller: Caller,
  request: PriceSearchRequest,
): Promise<PricePage | Refusal> {
  const command = readSearch(request, { members: PRICES.members, expandable: EXPANDABLE });
  if (isRefusal(command)) return command;
  const reader = new MemberReader();
  const startBeforeMs = reader.instant('start_date_lt', request.start_date_lt);
  const refusal = reader.refusal();
  if (refusal !== null) return refusal;
  const extra = priceConditions(request, startBeforeMs, clock.now());
  return readUnit({ database }, caller.environment, async ({ tx: transaction }) => {
    const page = await searchTable(transaction, PRICES, { command, extra });
    const surroundings = await findSurroundings(transaction, page.rows, command.expand);
    return { ...page, command, surroundings };
  });
}
