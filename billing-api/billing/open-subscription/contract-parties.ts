import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import { holdPublishedPlan } from '../../owners/lock-plans.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import { holdPublishedCustomer } from '../../owners/hold-customer.js';
import type { CustomerRow } from '../../declarations/customers/customer.resource.js';
import { invalid, isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { pricesFrom } from '../../subscriptions/lines/succeeded-prices.js';
import { holdAddons, type HeldAddon } from './held-addons.js';
import { findMatchingPrices, termsText } from './matching-prices-of.js';
import type { SubscriptionCommand } from './subscription-command.js';

/** The customer, the plan and the addons of a subscription, held until the unit ends. */
export type ContractParties = {
  readonly customer: CustomerRow;
  readonly plan: PlanRow;
  /** Prices of the plan that match the subscription (docs/domain.md 9.4), oldest first. */
  readonly planPrices: readonly PriceRow[];
  readonly addons: readonly HeldAddon[];
};

async function matchingPlanPrices(
  unit: Unit,
  command: SubscriptionCommand,
  plan: PlanRow,
): Promise<readonly PriceRow[] | Refusal> {
  const prices = await findMatchingPrices(unit, command, [plan.id]);
  if (prices.length > 0) return pricesFrom(prices, command.startMs ?? unit.now);
  return invalid({ plan_id: `the plan has no live price for ${termsText(command)}` });
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
  if (isRefusal(planPrices)) return planPrices;
  // Behind the plan, as whoever gives them entitlements locks them.
  const addons = await holdAddons(unit, command);
  return isRefusal(addons) ? addons : { customer, plan, planPrices, addons };
}
