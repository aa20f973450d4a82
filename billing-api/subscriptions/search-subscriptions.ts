import { sql } from 'slonik';
import { mustGet } from '../../runtime/failure.js';
import { rowIsOfEnvironment } from '../records/conditions.js';
import { PLANS } from '../declarations/catalog/plan.resource.js';
import { findRecords } from '../records/find-record.js';
import { accept, invalid, isRefusal, type Refusal, Refused } from '../records/refusal.js';
import { pageToDto, searchExpanded } from '../records/search-records.js';
import { readFilters, type SearchBodyRequest } from '../records/search-request.js';
import type { ReadUnit } from '../records/unit.js';
import {
  lineItemToDto,
  type LineItemDto,
} from '../declarations/subscriptions/line-item.resource.js';
import { findLineRecords, type LineRecords } from './line-records.js';
import { findShownRecords } from './related-records.js';
import {
  belongingsToDto,
  SUBSCRIPTION_EXPANSIONS,
  type SubscriptionListDto,
} from './subscription-expansions.js';
import { findLatestInvoices } from './subscriptions-store.js';
import type { SubscriptionConditions } from './subscription-search.js';
import {
  SUBSCRIPTIONS,
  subscriptionToDto,
} from '../declarations/subscriptions/subscription.resource.js';

/** One subscription can have 5000. */
const LINE_ITEMS_MAX = 10_000;

/** The line items of subscriptions as they are answered, by subscription. */
function lineItemsOf({ lineItems, prices, symbols }: LineRecords): Map<string, LineItemDto[]> {
  const byId = new Map<string, LineItemDto[]>();
  for (const item of lineItems) {
    const price = mustGet(prices, item.price_id, 'the price of a line');
    const answered = lineItemToDto(item, price, symbols);
    const known = byId.get(item.subscription_id);
    if (known === undefined) byId.set(item.subscription_id, [answered]);
    else known.push(answered);
  }
  return byId;
}

type SubscriptionSearch = {
  readonly request: SearchBodyRequest;
  readonly conditions: SubscriptionConditions;
  readonly withLineItems: boolean;
};

/** Whether the plan has prices that are newer than those that a subscription has taken over. */
const isOutOfSync = sql.fragment`(synced_price_sequence < (
  SELECT plan.price_sequence FROM plans AS plan
  WHERE plan.id = subscriptions.plan_id AND ${rowIsOfEnvironment('plan')}))`;
const OUT_OF_SYNC = 'plan_prices_out_of_sync';
const FILTERED = { ...SUBSCRIPTIONS.members, [OUT_OF_SYNC]: 'boolean' } as const;

/** The search with the one member that is no column as a condition of its own. */
function withOutOfSync(search: SubscriptionSearch): SubscriptionSearch | Refusal {
  const { filters = [] } = search.request;
  const read = readFilters(filters, FILTERED);
  if (isRefusal(read)) return read;
  const own = read.flatMap(({ field, operator, operand }) => {
    if (field.kind !== 'member' || field.name !== OUT_OF_SYNC) return [];
    const isWanted =
      operand.type === 'boolean'
        ? operand.flag === (operator === 'eq')
        : operand.type === 'array' && operand.texts.includes('true') === (operator === 'in');
    return [isWanted ? isOutOfSync : sql.fragment`NOT ${isOutOfSync}`];
  });
  const others = filters.filter(({ field }) => field !== OUT_OF_SYNC);
  return {
    ...search,
    request: { ...search.request, filters: others },
    conditions: [...search.conditions, ...own],
  };
}

/** One page of the subscriptions that meet the conditions, as they are answered. */
export async function searchSubscriptionsIn(
  unit: ReadUnit,
  search: SubscriptionSearch,
): Promise<SubscriptionListDto> {
  const asked = accept(withOutOfSync(search));
  const { request, conditions, withLineItems } = asked;
  const expansions = SUBSCRIPTION_EXPANSIONS;
  const page = await searchExpanded(unit, SUBSCRIPTIONS, { request, conditions, expansions });
  const rows = page.items.map(({ row }) => row);
  const records = withLineItems ? await findLineRecords(unit.tx, rows, LINE_ITEMS_MAX + 1) : null;
  if (records !== null && records.lineItems.length > LINE_ITEMS_MAX) {
    const problem = `the subscriptions of this answer have more than ${LINE_ITEMS_MAX} line items`;
    throw new Refused(invalid({ with_line_items: `${problem}; ask for fewer subscriptions` }));
  }
  const planIds = rows.map((row) => row.plan_id);
  const plans = records?.plans ?? (await findRecords(unit, PLANS, planIds));
  const ids = rows.map(({ id }) => id);
  const shownOf = await findShownRecords(unit.tx, ids);
  const invoices = await findLatestInvoices(unit.tx, ids);
  const lineItems = records === null ? null : lineItemsOf(records);
  return pageToDto(page, ({ row, expansions: expanded }) => ({
    ...subscriptionToDto(row, mustGet(plans, row.plan_id, 'the plan of a subscription')),
    ...belongingsToDto(shownOf(row.id), invoices.get(row.id) ?? null),
    ...expanded,
    // Absent means none: all prices of the plan are given up, and the subscription has no line.
    line_items: lineItems === null ? null : (lineItems.get(row.id) ?? []),
  }));
}
