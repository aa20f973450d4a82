import { Decimal } from '../../contract/number/decimal.js';
import type { Interval } from '../../contract/instant.js';
import { groupBy } from '../../runtime/group-by.js';
import { findFeatures } from '../catalog/features/features-store.js';
import type { FeatureRow } from '../declarations/catalog/feature.resource.js';
import { overlapOf } from '../domain/calendar/interval.js';
import type { EntitlementSource } from '../domain/entitlement/entitlement.js';
import { billedFromMs, unsplitPeriodAt } from '../domain/periods/ledger-periods.js';
import type { PeriodLedger } from '../domain/periods/period-ledger.js';
import type { EntitlementRow } from '../declarations/entitlements/entitlement.resource.js';
import { findEntitlementsOf } from '../entitlements/entitlements-store.js';
import { recordsByOwner } from '../records/records-by-owner.js';
import type { ReadUnit } from '../records/unit.js';
import type { AddonAssociationRow } from '../declarations/subscriptions/addon-association.resource.js';
import { ruledBy } from './children-store.js';
import { findAddonAssociations } from './addon-associations-store.js';
import type { SubscriptionRow } from '../declarations/subscriptions/subscription.resource.js';

/** An entitlement over the time in which it counts for a subscription. */
type DatedEntitlement = { readonly row: EntitlementRow; readonly validity: Interval };

function sourceFrom(
  { row, validity }: DatedEntitlement,
  meterId: string | null,
): EntitlementSource {
  return {
    entitlementId: row.id,
    // Earlier versions took a parent for a plan as well, where it means nothing.
    parentEntitlementId: row.entity_type === 'SUBSCRIPTION' ? row.parent_entitlement_id : null,
    featureId: row.feature_id,
    featureType: row.feature_type,
    meterId,
    isEnabled: row.is_enabled,
    isSoftLimit: row.is_soft_limit,
    usageLimit: row.usage_limit === null ? null : new Decimal(row.usage_limit),
    usageResetPeriod: row.usage_reset_period,
    staticValue: row.static_value,
    createdAtMs: row.created_at,
    validity,
  };
}

const validityOf = (row: EntitlementRow): Interval => ({
  startMs: row.start_date ?? -Infinity,
  endMs: row.end_date ?? Infinity,
});

/**
 * That of the first period lasts as long as this, also while a pause moves its end, and as long as
 * what it replaces (docs/domain.md 22.2).
 */
function ownValidity(
  row: EntitlementRow,
  { ledger, owned }: { readonly ledger: PeriodLedger; readonly owned: readonly EntitlementRow[] },
): Interval {
  const own = validityOf(row);
  const first = row.is_of_first_period ? unsplitPeriodAt(ledger, billedFromMs(ledger)) : null;
  if (first === null) return own;
  const parent = owned.find(({ id }) => id === row.parent_entitlement_id);
  const parentEndMs = parent?.end_date ?? Infinity;
  return { ...own, endMs: Math.min(first.endMs, parentEndMs) };
}

/** That of an addon counts once for every association, and only while this lasts. */
function datedOfAddon(
  row: EntitlementRow,
  associations: readonly AddonAssociationRow[],
): readonly DatedEntitlement[] {
  const own = validityOf(row);
  return associations
    .filter((association) => association.addon_id === row.entity_id)
    .flatMap(({ start_date: startMs, end_date: endMs }) => {
      const validity = overlapOf(own, { startMs, endMs: endMs ?? Infinity });
      return validity === null ? [] : [{ row, validity }];
    });
}

/** An entitlement of a subscription, as the domain reads it and as it is stored. */
export type SubscriptionSource = EntitlementSource & {
  readonly subscriptionId: string;
  readonly row: EntitlementRow;
};

/** What some subscriptions are entitled to. */
export type SubscriptionSources = {
  /** One list for each subscription, in their order. */
  readonly sources: readonly (readonly SubscriptionSource[])[];
  readonly features: ReadonlyMap<string, FeatureRow>;
};

/** A subscription with its periods, by which allowances of its first one end. */
type Entitled = {
  readonly row: Pick<
    SubscriptionRow,
    'id' | 'plan_id' | 'subscription_type' | 'parent_subscription_id'
  >;
  readonly ledger: PeriodLedger;
};

/** The addons of subscriptions, and the entitlements of these, of their plans and their own. */
export type EntitledRecords = {
  readonly associations: readonly AddonAssociationRow[];
  /** Oldest first. */
  readonly entitlements: readonly EntitlementRow[];
};

async function findEntitledRecords(
  { tx }: ReadUnit,
  subscriptions: readonly Entitled[],
): Promise<EntitledRecords> {
  const ids = subscriptions.map(({ row }) => ruledBy(row));
  const associations = await findAddonAssociations(tx, ids);
  const addonIds = associations.map((association) => association.addon_id);
  const owners = [...ids, ...subscriptions.map(({ row }) => row.plan_id), ...addonIds];
  return { associations, entitlements: await findEntitlementsOf(tx, [...new Set(owners)]) };
}

/**
 * Every entitlement of these subscriptions, by their plans, by their addons or of their own. An
 * inherited one has those of its parent (docs/domain.md 29.1).
 * @param known The records of all of them, where the unit has made or read them.
 */
export async function findSourcesOfSubscriptions(
  unit: ReadUnit,
  subscriptions: readonly Entitled[],
  known?: EntitledRecords,
): Promise<SubscriptionSources> {
  const { associations, entitlements: rows } =
    known ?? (await findEntitledRecords(unit, subscriptions));
  const features = await findFeatures(
    unit.tx,
    rows.map((row) => row.feature_id),
  );
  const addonsOf = groupBy(associations, (association) => association.subscription_id);
  const ownedBy = recordsByOwner(rows, (row) => row.entity_id);
  const sources = subscriptions.map(({ row: subscription, ledger }) => {
    const { id, plan_id: planId } = subscription;
    const ruling = ruledBy(subscription);
    // Absent means none: the subscription has no addons.
    const ofAddons = addonsOf.get(ruling) ?? [];
    const owners = [planId, ruling, ...ofAddons.map((association) => association.addon_id)];
    const owned = ownedBy(owners);
    const known = { ledger, owned };
    return owned
      .flatMap((row) =>
        row.entity_type === 'ADDON'
          ? datedOfAddon(row, ofAddons)
          : [{ row, validity: ownValidity(row, known) }],
      )
      .map((dated) => ({
        ...sourceFrom(dated, features.get(dated.row.feature_id)?.meter_id ?? null),
        subscriptionId: id,
        row: dated.row,
      }));
  });
  return { sources, features };
}

/**
 * Every entitlement that each of these subscriptions has, by its plan, by its addons or of its own
 * (docs/domain.md 10.1): one list for each, in their order.
 */
export async function findEntitlementSources(
  unit: ReadUnit,
  subscriptions: readonly Entitled[],
  known?: EntitledRecords,
): Promise<readonly (readonly EntitlementSource[])[]> {
  const { sources } = await findSourcesOfSubscriptions(unit, subscriptions, known);
  // An invoice keeps its inputs, so they have nothing but what it is computed from.
  return sources.map((ofOne) =>
    ofOne.map(({ row, meterId, validity }) => sourceFrom({ row, validity }, meterId)),
  );
}
