import { Decimal } from '../../../contract/number/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { AttachedCoupon } from '../../declarations/coupons/coupon-association.resource.js';
import type { CouponRow } from '../../declarations/coupons/coupon.resource.js';
import type {
  CouponAssociation,
  CouponTerms,
  TaxAssociation,
  TaxRateTerms,
} from '../../domain/adjustments/adjustments.js';
import { discountTermsFrom } from '../../domain/adjustments/coupon-kinds.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { AssociatedTax } from '../../declarations/taxes/tax-association.resource.js';
import type { TaxRateRow } from '../../declarations/taxes/tax-rate.resource.js';

/** The terms of a coupon as invoices are computed with it. */
export function couponTermsFrom(row: CouponRow): CouponTerms {
  const { id, cadence, duration_in_periods: durationInPeriods } = row;
  return { id, cadence, durationInPeriods, ...discountTermsFrom(row) };
}

/** The line items that continue this one and begin before an instant, in their order. */
function successorsOf(
  id: string | null,
  lineItems: readonly LineItemRow[],
  beforeMs: number,
): readonly string[] {
  if (id === null) return [];
  const next = lineItems.filter((item) => item.predecessor_id === id && item.start_date < beforeMs);
  return next.flatMap((item) => [item.id, ...successorsOf(item.id, lineItems, beforeMs)]);
}

/**
 * A coupon of a subscription with these line items as its invoices are computed with it, whatever
 * became of it since.
 * @param counts on how many invoices coupons were applied, by the id of their association.
 */
export function couponFrom(
  { association, coupon }: AttachedCoupon,
  lineItems: readonly LineItemRow[],
  counts: ReadonlyMap<string, number>,
): CouponAssociation {
  const { start_date: startMs, end_date: end, subscription_line_item_id: lineItemId } = association;
  const successorIds = successorsOf(lineItemId, lineItems, end ?? Infinity);
  return {
    id: association.id,
    coupon: couponTermsFrom(coupon),
    lineItemId,
    ...(successorIds.length === 0 ? {} : { successorIds }),
    validity: { startMs, endMs: end ?? Infinity },
    // Absent means zero: no invoice has it yet.
    applicationCount: counts.get(association.id) ?? 0,
  };
}

/** The terms of a tax rate as invoices are computed with it. */
export function rateTermsFrom(row: TaxRateRow): TaxRateTerms {
  const isActive = row.tax_rate_status === 'ACTIVE' && row.status === 'published';
  const terms = { id: row.id, isActive };
  switch (row.tax_rate_type) {
    case 'fixed': {
      const fixedValue = new Decimal(assertPresent(row.fixed_value, 'the amount of a tax rate'));
      return { ...terms, type: row.tax_rate_type, fixedValue };
    }
    case 'percentage': {
      const percentage = assertPresent(row.percentage_value, 'the percentage of a tax rate');
      return { ...terms, type: row.tax_rate_type, percentage: new Decimal(percentage) };
    }
  }
}

/** A tax association as invoices are computed with it. */
export function taxFrom({ association, rate }: AssociatedTax): TaxAssociation {
  const { start_date: start, end_date: end } = association;
  return {
    id: association.id,
    level: association.entity_type,
    entityId: association.entity_id,
    rate: rateTermsFrom(rate),
    priority: association.priority,
    currency: association.currency,
    validity: { startMs: start ?? -Infinity, endMs: end ?? Infinity },
    isAutoApplied: association.auto_apply,
  };
}
