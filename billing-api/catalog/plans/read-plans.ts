import type { InstantMs } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';
import { findEntitlementsOf, type EntitlementRow } from '../../entitlements/entitlements-store.js';
import { findFeaturesOfMeters, type FeatureRow } from '../features/features-store.js';
import { findMeters, type MeterRow } from '../meters/meters-store.js';
import { PLANS, findPlan, type PlanRow } from './plans-store.js';
import { findLivePrices, type PriceRow } from '../prices/prices-store.js';
import { hasText, isOneOf, searchTable, type Page } from '../../records/search-table.js';
import { type ReadDependencies, type Transaction, readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import {
  readSearch,
  type SearchBodyRequest,
  type SearchCommand,
} from '../../records/search-request.js';

export type PlanExpandable = 'prices' | 'entitlements' | 'credit_grants' | 'meters' | 'features';
const EXPANDABLE: readonly PlanExpandable[] = [
  'prices',
  'entitlements',
  'credit_grants',
  'meters',
  'features',
];

export type PlanSearchRequest = SearchBodyRequest & {
  readonly plan_ids?: readonly string[] | undefined;
  readonly lookup_keys?: readonly string[] | undefined;
  readonly name_contains?: string | undefined;
};

/** What belongs to plans: live prices, their meters, the features of these, entitlements. */
export type PlanContents = {
  readonly prices: readonly PriceRow[];
  readonly entitlements: readonly EntitlementRow[];
  readonly meters: ReadonlyMap<string, MeterRow>;
  readonly features: readonly FeatureRow[];
};

type PlanReading = ReadDependencies & { readonly clock: Clock };

async function findContents(
  transaction: Transaction,
  wish: {
    readonly entityIds: readonly string[];
    readonly expand: ReadonlySet<PlanExpandable>;
    readonly now: InstantMs;
  },
): Promise<PlanContents> {
  const { expand, entityIds, now } = wish;
  const isNeeded = expand.has('prices') || expand.has('meters') || expand.has('features');
  const prices = isNeeded ? await findLivePrices(transaction, { entityIds, now }) : [];
  const meterIds = [...new Set(prices.flatMap((price) => price.meter_id ?? []))];
  const meters = expand.has('meters') ? await findMeters(transaction, meterIds) : new Map();
  const features = expand.has('features') ? await findFeaturesOfMeters(transaction, meterIds) : [];
  const isEntitled = expand.has('entitlements');
  const entitlements = isEntitled ? await findEntitlementsOf(transaction, entityIds) : [];
  return { prices, meters, features, entitlements };
}

/** GET /plans/{id} with everything that belongs to it, whatever its status. */
export function readPlan(
  { database, clock }: PlanReading,
  caller: Caller,
  id: string,
): Promise<{ plan: PlanRow; contents: PlanContents } | Refusal> {
  return readUnit({ database }, caller.environment, async ({ tx: transaction }) => {
    const plan = await findPlan(transaction, id);
    if (plan === null) return notFound('plan', id);
    const expand = new Set(EXPANDABLE);
    const wish = { entityIds: [id], expand, now: clock.now() };
    return { plan, contents: await findContents(transaction, wish) };
  });
}

export type PlanPage = Page<PlanRow> & {
  readonly command: SearchCommand<PlanExpandable>;
  readonly contents: PlanContents;
};

/** POST /plans/search. */
export async function searchPlans(
  { database, clock }: PlanReading,
  caller: Caller,
  request: PlanSearchRequest,
): Promise<PlanPage | Refusal> {
  const command = readSearch(request, { members: PLANS.members, expandable: EXPANDABLE });
  if (isRefusal(command)) return command;
  const extra = [
    ...isOneOf('id', request.plan_ids),
    ...isOneOf('lookup_key', request.lookup_keys),
    ...hasText('name', request.name_contains),
  ];
  return readUnit({ database }, caller.environment, async ({ tx: transaction }) => {
    const page = await searchTable(transaction, PLANS, { command, extra });
    const entityIds = page.rows.map((row) => row.id);
    const wish = { entityIds, expand: command.expand, now: clock.now() };
    return { ...page, command, contents: await findContents(transaction, wish) };
  });
}
