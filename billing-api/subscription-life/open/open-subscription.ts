import type { Occasion } from '../../records/occasion.js';
import { accept, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { LoadedSubscription } from '../../subscriptions/loaded-subscription.js';
import { findRelatedRecords } from '../../subscriptions/related-records.js';
import type { GatewayNeeds } from '../../money/gateway-payments/pending-payment.js';
import { addToGroup } from '../groups/group.js';
import { joinParent, type JoinRequest } from '../groups/join-parent.js';
import type { CreateSubscriptionBody } from './create-subscription-body.js';
import { holdOwners } from './hold-owners.js';
import type { MadeSubscription } from './made-subscription.js';
import { storeOpeningInvoice } from './opening-invoice.js';
import { withFirstPayment } from './reserve-first.js';
import { settleOpening } from './settle-opening.js';
import { findSharedMeters } from './shared-meters.js';
import { storeSubscription } from './store-subscription.js';
import { readSubscriptionBody, type SubscriptionRequest } from './subscription-request.js';

/** A new subscription, and other ones of the customer that bill the usage of the same meters. */
export type OpenedSubscription = LoadedSubscription & { readonly warnings: readonly string[] };

/**
 * POST /subscriptions: an active subscription, or a draft of one, with a line item for every price
 * of the plan that matches (docs/domain.md 9.4), oldest price first, and for its own prices. Where
 * something is charged in advance, its opening invoice is finalized with it (docs/domain.md 22.1).
 * A draft has none.
 */
export async function openSubscription(
  needs: GatewayNeeds,
  occasion: Occasion,
  body: CreateSubscriptionBody,
): Promise<OpenedSubscription | Refusal> {
  return withFirstPayment(needs, occasion, async (unit, reservation) => {
    // Read and stored at one instant: what begins with the subscription begins exactly then.
    const request = accept(readSubscriptionBody(body, unit.now));
    const { parentId } = request.inheritance;
    if (parentId !== null) return openChild(unit, joinRequestOf(request, parentId));
    const made = await storeRequest(unit, request);
    const { subscription, related } = made;
    const warnings = await findSharedMeters(unit, subscription.id);
    if (request.terms.begins === 'draft') {
      return { subscription, related, latestInvoice: null, warnings };
    }
    const { lineItems } = related;
    const opening = await storeOpeningInvoice(unit, { subscription, lineItems, made });
    const settled = await settleOpening(unit, subscription, { opening, reservation });
    return { subscription: settled, related, latestInvoice: opening?.row ?? null, warnings };
  });
}

/** Stores a subscription as it is asked for; its invoices may bill others too (29.2). */
async function storeRequest(unit: Unit, request: SubscriptionRequest): Promise<MadeSubscription> {
  const owners = await holdOwners(unit, request);
  const made = await storeSubscription(unit, request.terms, owners);
  const grouped = await addToGroup(unit, made.subscription, request.inheritance.grouped);
  return { ...made, subscription: grouped.parent };
}

/** A subscription that inherits from a parent, whose invoices bill it (docs/domain.md 29.1). */
async function openChild(unit: Unit, request: JoinRequest): Promise<OpenedSubscription> {
  const subscription = await joinParent(unit, request);
  const related = await findRelatedRecords(unit.tx, [subscription]);
  const warnings = await findSharedMeters(unit, subscription.id);
  return { subscription, related, latestInvoice: null, warnings };
}

function joinRequestOf(request: SubscriptionRequest, parentId: string): JoinRequest {
  const { customerId, externalCustomerId, terms } = request;
  const { planId, currency, billingPeriod, billingPeriodCount, kept } = terms;
  return {
    parentId,
    customerId,
    externalCustomerId,
    planId,
    currency,
    billingPeriod,
    billingPeriodCount,
    lookupKey: kept.lookup_key,
    metadata: kept.metadata ?? {},
  };
}
