import { assertPresent } from '../../../runtime/failure.js';
import { findMatchingPrices, noMatchProblem } from '../../catalog/prices/find-matching-prices.js';
import { ADDONS } from '../../declarations/catalog/addon.resource.js';
import type { PlanRow } from '../../declarations/catalog/plan.resource.js';
import type { PriceRow } from '../../declarations/catalog/price.resource.js';
import type { AnsweredCustomerRow } from '../../declarations/customers/customer.resource.js';
import { holdPublishedCustomer } from '../../owners/hold-customer.js';
import { holdPublishedPlan } from '../../owners/lock-plans.js';
import { holdRecords } from '../../records/find-record.js';
import { invalid, isRefusal, notFound, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { pricesFrom } from '../../subscriptions/lines/succeeded-prices.js';
import { lockCustomers, refuseBesideInherited } from '../groups/inherit.js';
import { heldAddons, idsOfAddons, type HeldAddon } from './addons.js';
import type { SubscriptionRequest } from './subscription-request.js';

/** The customer, the plan and the addons of a request, held until the unit ends. */
export type CustomerAndPlan = {
  readonly customer: AnsweredCustomerRow;
  readonly plan: PlanRow;
  /** Prices of the plan that match the subscription (docs/domain.md 9.4), oldest first. */
  readonly planPrices: readonly PriceRow[];
  readonly addons: readonly HeldAddon[];
  /** Another customer, who pays; null where the customer pays itself. */
  readonly payer: AnsweredCustomerRow | null;
  /** Locked customers who inherit. */
  readonly heirs: readonly AnsweredCustomerRow[];
};

/** The customer who pays the invoices of another one's subscription. */
async function holdPayer(
  unit: Unit,
  { inheritance: { payer: named } }: SubscriptionRequest,
  customer: AnsweredCustomerRow,
): Promise<AnsweredCustomerRow | null | Refusal> {
  if (named === null) return null;
  const payer = await holdPublishedCustomer(unit.tx, named);
  if (payer === null) {
    return notFound('customer', assertPresent(named.id ?? named.externalId, 'the payer'));
  }
  if (payer.id !== customer.id) return payer;
  const member = 'inheritance.invoicing_customer_external_id';
  return invalid({ [member]: 'must name another customer; leave it out where the customer pays' });
}

/** The customer, the plan and the addons of a request, which must be there. */
export async function holdCustomerAndPlan(
  unit: Unit,
  request: SubscriptionRequest,
): Promise<CustomerAndPlan | Refusal> {
  const { customerId, externalCustomerId, planId } = request;
  const reference = { id: customerId, externalId: externalCustomerId };
  const customer = await holdPublishedCustomer(unit.tx, reference);
  if (customer === null) {
    const name = assertPresent(customerId ?? externalCustomerId, 'the name of the customer');
    return notFound('customer', name);
  }
  const beside = await refuseBesideInherited(unit, customer.id);
  if (beside !== null) return beside;
  const payer = await holdPayer(unit, request, customer);
  if (isRefusal(payer)) return payer;
  const heirs = await lockCustomers(unit, request.inheritance.heirs);
  if (isRefusal(heirs)) return heirs;
  const plan = await holdPublishedPlan(unit.tx, planId);
  if (plan === null) return notFound('plan', planId);
  // Behind the plan, as whoever gives them entitlements locks them.
  const ids = idsOfAddons(request);
  const rows = await holdRecords(unit, ADDONS, ids);
  const matching = await findMatchingPrices(unit, request, [plan.id, ...ids]);
  const ofPlan = matching.filter((price) => price.entity_id === plan.id);
  if (ofPlan.length === 0) {
    return invalid({
      plan_id: await noMatchProblem(unit, request, { noun: 'plan', id: plan.id }),
    });
  }
  const planPrices = pricesFrom(ofPlan, request.startMs ?? unit.now);
  const addons = await heldAddons(unit, request, { rows, matching });
  return isRefusal(addons) ? addons : { customer, payer, heirs, plan, planPrices, addons };
}
