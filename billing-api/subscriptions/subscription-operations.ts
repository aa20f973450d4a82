import { PLANS } from '../catalog/plans/plan.resource.js';
import type { Caller } from '../records/caller.js';
import { findRecords } from '../records/find-record.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import { pageToDto, searchExpanded } from '../records/search-records.js';
import { readUnit, type ReadDependencies, type ReadUnit } from '../records/unit.js';
import { lineItemToDto, type LineItemDto } from './line-item.resource.js';
import { findPricesOfLines } from './related-records.js';
import { SUBSCRIPTION_EXPANSIONS, type SubscriptionListDto } from './subscription-expansions.js';
import {
  isOfExternalCustomer,
  subscriptionConditions,
  type SearchSubscriptionsBody,
} from './subscription-search.js';
import { SUBSCRIPTIONS, subscriptionToDto, type SubscriptionRow } from './subscription.resource.js';
import { findLineItems } from './subscriptions-store.js';

/** The line items of subscriptions as they are answered, by subscription. */
async function lineItemsOf(
  { tx }: ReadUnit,
  rows: readonly SubscriptionRow[],
): Promise<ReadonlyMap<string, LineItemDto[]>> {
  const ids = rows.map((row) => row.id);
  const lineItems = await findLineItems(tx, ids);
  const prices = await findPricesOfLines(tx, lineItems);
  const byId = new Map<string, LineItemDto[]>(ids.map((id) => [id, []]));
  for (const item of lineItems) {
    byId.get(item.subscription_id)?.push(lineItemToDto(item, prices.get(item.price_id)));
  }
  return byId;
}

/** POST /subscriptions/search. */
export async function searchSubscriptions(
  dependencies: ReadDependencies,
  caller: Caller,
  body: SearchSubscriptionsBody,
): Promise<SubscriptionListDto | Refusal> {
  const conditions = subscriptionConditions(body);
  if (isRefusal(conditions)) return conditions;
  return readUnit(dependencies, caller.environment, async (unit) => {
    const ofCustomer = await isOfExternalCustomer(unit, body.external_customer_id);
    const page = await searchExpanded(unit, SUBSCRIPTIONS, {
      request: body,
      conditions: [...conditions, ...ofCustomer],
      expansions: SUBSCRIPTION_EXPANSIONS,
    });
    if (isRefusal(page)) return page;
    const rows = page.items.map(({ row }) => row);
    const planIds = rows.map((row) => row.plan_id);
    const plans = await findRecords(unit, PLANS, planIds);
    const lineItems = body.with_line_items === true ? await lineItemsOf(unit, rows) : null;
    return pageToDto(page, ({ row, expansions }) => ({
      ...subscriptionToDto(row, plans.get(row.plan_id)),
      ...expansions,
      ...(lineItems !== null && { line_items: lineItems.get(row.id) ?? [] }),
    }));
  });
}
