import type { InstantMs } from '../../contract/instant.js';
import { assertPresent } from '../../runtime/failure.js';
import type { WindowSize } from '../domain/calendar/usage-windows.js';
import type { Figures, WindowFigures } from '../domain/usage/aggregation-spec.js';
import { findCustomersByExternalId } from '../customers/customers-store.js';
import { findEffectiveMeters, type EffectiveMeter } from '../catalog/meters/effective-meters.js';
import { readUnit } from '../records/unit.js';
import type { UsageCustomers } from './store/usage-question.js';
import type { Caller } from '../records/caller.js';
import { MemberReader } from '../records/member-rules.js';
import { meterAskOf, readTerms, type UsageTerms } from './read-meter-usage.js';
import { readUsage, type UsageQuery } from './read-usage.js';
import { invalid, isRefusal, notFound, type Refusal } from '../records/refusal.js';
import type { RangeRequest } from '../records/time-range.js';
import { tooManyRows, wholeOf } from './usage-answer.js';
import {
  usageOfCustomers,
  usageOfEverybody,
  type UsageReadDependencies,
} from './usage-customers.js';

export type MeterUsageQuery = RangeRequest & {
  readonly meter_ids: readonly string[];
  readonly external_customer_ids?: readonly string[] | undefined;
  readonly window_size?: WindowSize | undefined;
};

export type MeterUsageItem = {
  readonly meter: EffectiveMeter;
  readonly total: Figures;
  readonly points: readonly WindowFigures[];
};
export type MeterUsageItems = {
  readonly items: readonly MeterUsageItem[];
  readonly dataUntil: InstantMs | null;
};

/** Windows of all meters together. */
const POINTS_MAX = 100_000;

async function findMeters(
  { database }: UsageReadDependencies,
  { environment }: Caller,
  ids: readonly string[],
): Promise<readonly EffectiveMeter[] | Refusal> {
  const readings = await findEffectiveMeters(database, environment, ids);
  const unknown = ids.find((id) => !readings.has(id));
  if (unknown !== undefined) return notFound('meter', unknown);
  return [...new Set(ids)].map((id) => assertPresent(readings.get(id), 'a meter that was found'));
}

/** The customers that the query names, or everybody. */
async function customersOf(
  dependencies: UsageReadDependencies,
  caller: Caller,
  { ids, asks }: { readonly ids: readonly string[] | undefined; asks: readonly UsageQuery[] },
): Promise<UsageCustomers | Refusal> {
  if (ids === undefined || ids.length === 0) {
    return usageOfEverybody(dependencies, caller, asks);
  }
  const customers = await readUnit(dependencies, caller.environment, ({ tx: transaction }) =>
    findCustomersByExternalId(transaction, ids),
  );
  const known = new Set(customers.map((customer) => customer.external_id));
  const unknown = ids.find((id) => !known.has(id));
  return unknown === undefined ? usageOfCustomers(customers) : notFound('customer', unknown);
}

/** Totals and points only: groups of a meter are added up as its quantity is. */
function asksOf(
  meters: readonly EffectiveMeter[],
  terms: UsageTerms,
): readonly UsageQuery[] | Refusal {
  const asks: UsageQuery[] = [];
  let points = 0;
  for (const meter of meters) {
    const ask = meterAskOf({ meter, customer: null }, terms);
    if (isRefusal(ask)) return ask;
    const [whole, shown] = ask.views;
    const windows = shown?.windows ?? null;
    points += windows?.length ?? 0;
    const view = assertPresent(whole, 'the view of the whole range');
    asks.push({ ...ask, views: windows === null ? [view] : [view, { ...view, windows }] });
  }
  if (points <= POINTS_MAX) return asks;
  return invalid({ window_size: `the answer would have more than ${POINTS_MAX} points` });
}

/** POST /meter-usage/query (api.md 10.3). */
export async function queryMeterUsage(
  dependencies: UsageReadDependencies,
  caller: Caller,
  request: MeterUsageQuery,
): Promise<MeterUsageItems | Refusal> {
  const reader = new MemberReader();
  const terms = readTerms(reader, request, dependencies.clock.now());
  const problems = reader.refusal();
  if (problems !== null) return problems;
  const meters = await findMeters(dependencies, caller, request.meter_ids);
  if (isRefusal(meters)) return meters;
  const asks = asksOf(meters, terms);
  if (isRefusal(asks)) return asks;
  // Before anything is counted, so that it holds for every count.
  const dataUntil = await dependencies.dataUntil();
  const ids = request.external_customer_ids;
  const customers = await customersOf(dependencies, caller, { ids, asks });
  if (isRefusal(customers)) return customers;
  const whose = { environment: caller.environment, customers };
  const answers = await readUsage(dependencies.usage, whose, asks);
  if (answers === null) return tooManyRows({ buckets: null });
  const items = meters.map((meter, index) => ({
    meter,
    total: wholeOf(answers[index]?.[0]),
    points: answers[index]?.[1]?.[0]?.windows ?? [],
  }));
  return { items, dataUntil };
}
