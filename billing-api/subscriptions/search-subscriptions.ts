import { mustGet } from '../../runtime/failure.js';
import { PLANS } from '../declarations/catalog/plan.resource.js';
import { findRecords } from '../records/find-record.js';
import { invalid, isRefusal, type Refusal } from '../records/refusal.js';
import { pageToDto, searchExpanded } from '../records/search-records.js';
import type { SearchBodyRequest } from '../records/search-request.js';
import type { ReadUnit } from '../records/unit.js';
import {
  lineItemToDto,
  type LineItemDto,
} from '../declarations/subscriptions/line-item.resource.js';
import { findLineRecords, type LineRecords } from './line-records.js';
import { SUBSCRIPTION_EXPANSIONS, type SubscriptionListDto } from './subscription-expansions.js';
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

/** One page of the subscriptions that meet the conditions, as they are answered. */
export async function searchSubscriptionsIn(
  unit: ReadUnit,
  { request, conditions, withLineItems }: SubscriptionSearch,
): Promise<SubscriptionListDto | Refusal> {
  const expansions = SUBSCRIPTION_EXPANSIONS;
  const page = await searchExpanded(unit, SUBSCRIPTIONS, { request, conditions, expansions });
  if (isRefusal(page)) return page;
  const rows = page.items.map(({ row }) => row);
  const records = withLineItems ? await findLineRecords(unit.tx, rows, LINE_ITEMS_MAX + 1) : null;
  if (records !== null && records.lineItems.length > LINE_ITEMS_MAX) {
    const problem = `the subscriptions of this answer have more than ${LINE_ITEMS_MAX} line items`;
    return invalid({ with_line_items: `${problem}; ask for fewer subscriptions` });
  }
  const planIds = rows.map((row) => row.plan_id);
  const plans = records?.plans ?? (await findRecords(unit, PLANS, planIds));
  const lineItems = records === null ? null : lineItemsOf(records);
  return pageToDto(page, ({ row, expansions: expanded }) => ({
    ...subscriptionToDto(row, mustGet(plans, row.plan_id, 'the plan of a subscription')),
    ...expanded,
    // Absent means none: all prices of the plan are given up, and the subscription has no line.
    ...(lineItems !== null && { line_items: lineItems.get(row.id) ?? [] }),
  }));
}
