import { Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import {
  onePeriod,
  wholePeriodsIn,
  type BilledEvery,
} from '../../domain/calendar/billing-length.js';
import { overlapOf } from '../../domain/calendar/interval.js';
import { scaleAllowance } from '../../domain/entitlement/scale-allowance.js';
import type { LedgerPeriod } from '../../domain/periods/period-ledger.js';
import type {
  EntitlementReset,
  EntitlementRow,
  NewEntitlement,
} from '../../declarations/entitlements/entitlement.resource.js';

/**
 * The entitlement of the subscription that takes the place of one of its plan (docs/domain.md
 * 10.1).
 */
export function replacementOf(parent: EntitlementRow, subscriptionId: string): NewEntitlement {
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

/**
 * With create_prorations a short first period has its share of the plan's allowances that renew
 * with the billing period (docs/domain.md 22.2); none for a full first period. A
 * copy counts while its original does and only in that period: outside of both it would replace
 * the original with an allowance that the plan does not give then.
 */
export function scaledEntitlements(
  ofPlan: readonly EntitlementRow[],
  first: {
    readonly subscriptionId: string;
    readonly every: BilledEvery;
    readonly period: LedgerPeriod;
  },
): readonly NewEntitlement[] {
  const { period, every, subscriptionId } = first;
  const { grid: full } = period;
  const isShort = period.startMs > full.startMs || period.endMs < full.endMs;
  if (!isShort) return [];
  const share = {
    coveredMs: period.endMs - period.startMs,
    fullMs: full.endMs - full.startMs,
  };
  return ofPlan.flatMap((parent) => {
    const { usage_limit: limit, usage_reset_period: reset } = parent;
    if (limit === null || parent.feature_type !== 'metered') return [];
    const validity = overlapOf(validityOf(parent), period);
    if (!resetsWithPeriod(reset, every) || validity === null) return [];
    return {
      ...replacementOf(parent, subscriptionId),
      usage_limit: scaleAllowance(new Decimal(limit), share).toNumber(),
      start_date: validity.startMs,
      end_date: validity.endMs,
    };
  });
}
