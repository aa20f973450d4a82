import { Decimal, ZERO } from '../../../contract/number/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import {
  ENTITLEMENTS,
  type EntitlementReset,
  type EntitlementRow,
  type NewEntitlement,
} from '../../declarations/entitlements/entitlement.resource.js';
import {
  onePeriod,
  wholePeriodsIn,
  type BilledEvery,
} from '../../domain/calendar/billing-length.js';
import { overlapOf } from '../../domain/calendar/interval.js';
import type { ProrationBehavior } from '../../domain/calendar/proration.js';
import { scaleAllowance } from '../../domain/entitlement/scale-allowance.js';
import type { LedgerPeriod, PeriodLedger } from '../../domain/periods/period-ledger.js';
import { createRecords } from '../../records/create-record.js';
import type { MemberReader } from '../../records/member-rules.js';
import { accept, collect, invalid, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';

/** An absent member keeps the value of the plan. */
export interface OverrideEntitlementBody {
  /** A published entitlement of the plan. */
  parent_entitlement_id: string;
  /**
   * @isInt
   * @minimum 0
   * @maximum 9007199254740991
   */
  usage_limit?: number;
  is_enabled?: boolean;
  /** @maxLength 10000 */
  static_value?: string;
}

/** Reads the overrides of a request; every entitlement once. */
export function readEntitlementOverrides(
  reader: MemberReader,
  bodies: readonly OverrideEntitlementBody[],
): readonly OverrideEntitlementBody[] {
  const seen = new Set<string>();
  for (const [index, { parent_entitlement_id: id }] of bodies.entries()) {
    const member = `override_entitlements.${index}.parent_entitlement_id`;
    if (seen.has(id)) reader.note(member, 'must not be given twice');
    seen.add(id);
  }
  return bodies;
}

/**
 * The entitlement of the subscription that takes the place of one of its plan (docs/domain.md
 * 10.1).
 */
function replacementOf(parent: EntitlementRow, subscriptionId: string): NewEntitlement {
  return {
    feature_id: parent.feature_id,
    feature_type: parent.feature_type,
    entity_type: 'SUBSCRIPTION',
    entity_id: subscriptionId,
    parent_entitlement_id: parent.id,
    is_enabled: parent.is_enabled,
    is_soft_limit: parent.is_soft_limit,
    static_value: parent.static_value,
    usage_limit: parent.usage_limit,
    usage_reset_period: parent.usage_reset_period,
    display_order: parent.display_order,
    start_date: parent.start_date,
    end_date: parent.end_date,
    metadata: {},
  };
}

/** Whether the reset window of an allowance is the billing period (docs/domain.md 10.2). */
function resetsWithPeriod(reset: EntitlementReset, every: BilledEvery): boolean {
  if (reset === null) return true;
  if (reset === 'NEVER') return false;
  return wholePeriodsIn(onePeriod(reset), every) === 1;
}

function validityOf({ start_date: startMs, end_date: endMs }: EntitlementRow): Interval {
  return { startMs: startMs ?? -Infinity, endMs: endMs ?? Infinity };
}

/** The first period of a subscription, which decides its first allowances. */
type FirstPeriod = {
  readonly subscriptionId: string;
  readonly every: BilledEvery;
  readonly period: LedgerPeriod;
  readonly isScaled: boolean;
  /** What an earlier subscription left, by feature. */
  readonly left: ReadonlyMap<string, Decimal>;
};

/** The allowance of the first period for a full one. */
function firstAllowance(full: Decimal, { period, isScaled }: FirstPeriod): Decimal {
  const { grid } = period;
  const isShort = period.startMs > grid.startMs || period.endMs < grid.endMs;
  if (!isScaled || !isShort) return full;
  const share = { coveredMs: period.endMs - period.startMs, fullMs: grid.endMs - grid.startMs };
  return scaleAllowance(full, share);
}

/**
 * Allowances of the plan that renew with the billing period and differ in the first one: with
 * create_prorations a short one has its share (docs/domain.md 22.2), and what an earlier
 * subscription left is added (25.3). A copy counts while its original does and only in that period,
 * wherever a pause moves its end: outside of both it would replace the original with an allowance
 * that the plan does not give then.
 */
function firstEntitlements(
  ofPlan: readonly EntitlementRow[],
  first: FirstPeriod,
): readonly NewEntitlement[] {
  const { period, every, subscriptionId, left } = first;
  if (period.kind === 'trial') return [];
  return ofPlan.flatMap((parent) => {
    const { usage_limit: limit, usage_reset_period: reset, feature_id: featureId } = parent;
    if (limit === null || parent.feature_type !== 'metered') return [];
    const validity = overlapOf(validityOf(parent), period);
    if (!resetsWithPeriod(reset, every) || validity === null) return [];
    // Absent means zero: there was no earlier subscription, or it had no allowance of the feature.
    const more = left.get(featureId) ?? ZERO;
    const allowance = firstAllowance(new Decimal(limit), first).plus(more);
    if (allowance.equals(limit)) return [];
    return {
      ...replacementOf(parent, subscriptionId),
      usage_limit: allowance.round().toNumber(),
      start_date: validity.startMs,
      end_date: validity.endMs,
      is_of_first_period: true,
    };
  });
}

/** The entitlements that a request gives the subscription in place of those of its plan. */
function overriddenEntitlements(
  ofPlan: readonly EntitlementRow[],
  overrides: readonly OverrideEntitlementBody[],
  subscriptionId: string,
): readonly NewEntitlement[] | Refusal {
  return collect({ items: overrides, isBulk: false }, (override, index) => {
    const parent = ofPlan.find(({ id }) => id === override.parent_entitlement_id);
    if (parent === undefined) {
      const member = `override_entitlements.${index}.parent_entitlement_id`;
      return invalid({ [member]: 'must be a published entitlement of the plan' });
    }
    return {
      ...replacementOf(parent, subscriptionId),
      usage_limit: override.usage_limit ?? parent.usage_limit,
      is_enabled: override.is_enabled ?? parent.is_enabled,
      static_value: override.static_value ?? parent.static_value,
    };
  });
}

/** The subscription whose entitlements differ from those of its plan. */
type EntitledSubscription = {
  readonly subscriptionId: string;
  readonly ofPlan: readonly EntitlementRow[];
  readonly ledger: PeriodLedger;
  readonly prorationBehavior: ProrationBehavior;
  readonly leftAllowances: ReadonlyMap<string, Decimal>;
};

/** Stores the entitlements that the subscription has in place of those of its plan. */
export async function storeEntitlements(
  unit: Unit,
  { subscriptionId, ofPlan, ledger, ...terms }: EntitledSubscription,
  overrides: readonly OverrideEntitlementBody[],
): Promise<readonly EntitlementRow[]> {
  const overridden = accept(overriddenEntitlements(ofPlan, overrides, subscriptionId));
  const first = firstEntitlements(ofPlan, {
    subscriptionId,
    every: ledger,
    period: ledger.periods[0],
    left: terms.leftAllowances,
    isScaled: terms.prorationBehavior === 'create_prorations',
  });
  const items = [...overridden, ...first];
  return createRecords(unit, ENTITLEMENTS, { items, isBulk: false });
}
