import { Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import {
  billingLengthOf,
  multipleOf,
  type BilledEvery,
} from '../../domain/calendar/billing-length.js';
import { gridPeriodAt } from '../../domain/calendar/billing-periods.js';
import { scaleAllowance } from '../../domain/entitlement/scale-allowance.js';
import type { SubscriptionTerms } from '../../domain/invoice/subscription-terms.js';
import type { EntitlementReset, EntitlementRow } from '../../entitlements/entitlements-store.js';
import { instantValue, type NewRow } from '../../records/records.js';
import type { MemberReader } from '../../records/member-rules.js';
import { invalid, type Refusal } from '../../records/refusal.js';

/** One element of `override_entitlements` (api.md 5.1) as it came. */
export type EntitlementOverride = {
  readonly parent_entitlement_id: string;
  readonly usage_limit?: number | undefined;
  readonly is_enabled?: boolean | undefined;
  readonly static_value?: string | undefined;
};

/** Reads the overrides of a request; every entitlement once. */
export function readEntitlementOverrides(
  reader: MemberReader,
  requests: readonly EntitlementOverride[] | undefined,
): readonly EntitlementOverride[] {
  const seen = new Set<string>();
  return (requests ?? []).map((request, index) => {
    const { parent_entitlement_id: id } = request;
    const member = `override_entitlements.${index}.parent_entitlement_id`;
    if (seen.has(id)) reader.note(member, 'is there twice');
    seen.add(id);
    return request;
  });
}

/** The entitlement of the subscription that takes the place of one of its plan (domain.md 10.1). */
function replacementOf(parent: EntitlementRow, subscriptionId: string): NewRow {
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
    start_date: instantValue(parent.start_date),
    end_date: instantValue(parent.end_date),
    metadata: {},
  };
}

/** The entitlements that a subscription has in place of those of its plan. */
export function overriddenEntitlements(
  ofPlan: readonly EntitlementRow[],
  overrides: readonly EntitlementOverride[],
  subscriptionId: string,
): readonly NewRow[] | Refusal {
  const rows: NewRow[] = [];
  for (const [index, override] of overrides.entries()) {
    const parent = ofPlan.find(({ id }) => id === override.parent_entitlement_id);
    if (parent === undefined) {
      const member = `override_entitlements.${index}.parent_entitlement_id`;
      return invalid({ [member]: 'is no published entitlement of the plan' });
    }
    rows.push({
      ...replacementOf(parent, subscriptionId),
      usage_limit: override.usage_limit ?? parent.usage_limit,
      is_enabled: override.is_enabled ?? parent.is_enabled,
      static_value: override.static_value ?? parent.static_value,
    });
  }
  return rows;
}

/** Whether the reset window of an allowance is the billing period (domain.md 10.2). */
function resetsWithPeriod(reset: EntitlementReset, every: BilledEvery): boolean {
  if (reset === null) return true;
  if (reset === 'NEVER') return false;
  const length = billingLengthOf({ billingPeriod: reset, billingPeriodCount: 1 });
  return multipleOf(length, billingLengthOf(every)) === 1;
}

/**
 * With create_prorations a short first period has its share of the plan's allowances that renew
 * with the billing period (domain.md 22.2); none without it, or for a full first period.
 */
export function scaledEntitlements(
  ofPlan: readonly EntitlementRow[],
  terms: SubscriptionTerms,
  first: { readonly subscriptionId: string; readonly period: Interval },
): readonly NewRow[] {
  const { period, subscriptionId } = first;
  const full = gridPeriodAt(terms, period.startMs);
  const isShort = period.startMs > full.startMs || period.endMs < full.endMs;
  if (terms.prorationBehavior === 'none' || !isShort) return [];
  const share = {
    coveredMs: period.endMs - period.startMs,
    fullMs: full.endMs - full.startMs,
  };
  return ofPlan.flatMap((parent) => {
    const { usage_limit: limit, usage_reset_period: reset } = parent;
    if (limit === null || parent.feature_type !== 'metered') return [];
    if (!resetsWithPeriod(reset, terms)) return [];
    return {
      ...replacementOf(parent, subscriptionId),
      usage_limit: scaleAllowance(new Decimal(limit), share).toNumber(),
      start_date: instantValue(period.startMs),
      end_date: instantValue(period.endMs),
    };
  });
}
