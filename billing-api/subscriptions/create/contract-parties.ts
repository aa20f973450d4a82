import type { PlanRow } from '../../catalog/plans/plan.resource.js';
import { holdPublishedPlan } from '../../catalog/plans/plans-store.js';
import { priceFromRow, type PriceRow } from '../../catalog/prices/price.resource.js';
import { findLivePrices } from '../../catalog/prices/prices-store.js';
import { holdPublishedCustomer } from '../../customers/customers-store.js';
import type { CustomerRow } from '../../customers/customer.resource.js';
import { matchingPrices } from '../../domain/price/matching-prices.js';
import { invalid, isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { SubscriptionCommand } from './subscription-command.js';

/** The customer and the plan of a subscription, held until the unit ends. */
export type ContractParties = {
  readonly customer: CustomerRow;
  readonly plan: PlanRow;
  /** Prices of the plan that match the subscription (docs/domain.md 9.4), oldest first. */
  readonly planPrices: readonly PriceRow[];
};

async function matchingPlanPrices(
  { tx, now }: Unit,
  command: SubscriptionCommand,
  plan: PlanRow,
): Promise<readonly PriceRow[] | Refusal> {
  const live = await findLivePrices(tx, { entityIds: [plan.id], now });
  const matching = matchingPrices(live.map(priceFromRow), command, now);
  const ids = new Set(matching.map((price) => price.id));
  if (ids.size > 0) return live.filter((row) => ids.has(row.id));
  const wanted = `${command.currency}, ${command.billingPeriod} × ${command.billingPeriodCount}`;
  return invalid({ plan_id: `the plan has no live price for ${wanted}` });
}

export async function holdContractParties(
  unit: Unit,
  command: SubscriptionCommand,
): Promise<ContractParties | Refusal> {
  const { customerId, externalCustomerId, planId } = command;
  const reference = { id: customerId, externalId: externalCustomerId };
  const customer = await holdPublishedCustomer(unit.tx, reference);
  if (customer === null) return notFound('customer', customerId ?? externalCustomerId ?? '');
  const plan = await holdPublishedPlan(unit.tx, planId);
  if (plan === null) return notFound('plan', planId);
  const planPrices = await matchingPlanPrices(unit, command, plan);
  return isRefusal(planPrices) ? planPrices : { customer, plan, planPrices };
}
