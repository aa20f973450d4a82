import type { InstantMs } from '../../../contract/instant.js';
import {
  CREDIT_GRANTS,
  type CreditGrantRow,
  type NewCreditGrant,
} from '../../declarations/credit-grants/credit-grant.resource.js';
import type { GrantOfNewSubscription } from '../../credit-grants/credit-grant-rules.js';
import { findCreditGrantsOf } from '../../credit-grants/credit-grants-store.js';
import { createRecords } from '../../records/create-record.js';
import type { Refusal } from '../../records/refusal.js';
import { ownColumnsOf } from '../../records/resource.js';
import type { Unit } from '../../records/unit.js';
import type { HeldAddon } from './held-addons.js';

function copyOf(
  grant: CreditGrantRow,
  { subscriptionId, startMs }: { readonly subscriptionId: string; readonly startMs: InstantMs },
): NewCreditGrant {
  return {
    ...ownColumnsOf(CREDIT_GRANTS, grant),
    ...{ scope: 'SUBSCRIPTION', plan_id: null, addon_id: null, subscription_id: subscriptionId },
    ...{ start_date: startMs, credit_grant_anchor: startMs, metadata: grant.metadata },
  };
}

/** What a new subscription gets its credit grants from. */
type GrantSources = {
  readonly planId: string;
  readonly addons: readonly HeldAddon[];
  /** Those of its own request. */
  readonly requested: readonly GrantOfNewSubscription[];
};

/**
 * Stores the credit grants of a new subscription: copies of those of its plan and addons, and those
 * that its request brings. The periods of a copy are counted from the start of the subscription, an
 * addon's from the start of the addon (docs/domain.md 21).
 */
export async function storeGrants(
  unit: Unit,
  from: GrantSources,
  to: { readonly subscriptionId: string; readonly startMs: InstantMs },
): Promise<readonly CreditGrantRow[] | Refusal> {
  const ofPlan = await findCreditGrantsOf(unit.tx, 'plan_id', [from.planId]);
  const addonIds = from.addons.map(({ addon }) => addon.id);
  const ofAddons = await findCreditGrantsOf(unit.tx, 'addon_id', addonIds);
  const items = [
    ...ofPlan.map((grant) => copyOf(grant, to)),
    ...from.addons.flatMap(({ addon, requested: { startMs } }) =>
      ofAddons
        .filter((grant) => grant.addon_id === addon.id)
        .map((grant) => copyOf(grant, { ...to, startMs })),
    ),
    ...from.requested.map((grant) => ({ ...grant, subscription_id: to.subscriptionId })),
  ];
  return createRecords(unit, CREDIT_GRANTS, { items, isBulk: false });
}
