import { decimalOf } from '../../../../contract/number/decimal.js';
import type {
  CouponAssociation as ProductCoupon,
  CouponTerms,
  PrepaidWallet,
  TaxAssociation,
} from '../../../../billing-api/domain/adjustments/adjustments.js';
import type { EarlierInvoice } from '../invoice-question.js';
import type { CouponAssociation, Subscription } from '../subscription.js';

function couponTerms({ id, discount, applicationsMax }: CouponAssociation): CouponTerms {
  const cadence = applicationsMax === 1 ? 'once' : 'repeated';
  const basis = {
    id: `coupon of ${id}`,
    cadence: applicationsMax === null ? ('forever' as const) : cadence,
    durationInPeriods: cadence === 'repeated' ? applicationsMax : null,
  } as const;
  return discount.type === 'fixed'
    ? { ...basis, type: 'fixed', amountOff: decimalOf(discount.amountOff) }
    : { ...basis, type: 'percentage', percentageOff: decimalOf(discount.percentageOff) };
}

export function productCoupons(
  { coupons }: Subscription,
  earlier: readonly EarlierInvoice[],
): readonly ProductCoupon[] {
  return coupons.map((coupon) => ({
    id: coupon.id,
    coupon: couponTerms(coupon),
    lineItemId: coupon.itemId,
    validity: { startMs: coupon.start, endMs: coupon.end ?? Infinity },
    applicationCount: earlier.filter(({ appliedCouponIds }) => appliedCouponIds.includes(coupon.id))
      .length,
  }));
}

export function productTaxes({ taxes }: Subscription): readonly TaxAssociation[] {
  return taxes.map((tax, index) => ({
    id: tax.id,
    level: tax.level,
    entityId: tax.level,
    rate: {
      id: tax.rateId,
      isActive: tax.isActive,
      ...(tax.type === 'fixed'
        ? { type: 'fixed', fixedValue: decimalOf(tax.amount) }
        : { type: 'percentage', percentage: decimalOf(tax.percentage) }),
    },
    priority: index,
    currency: null,
    validity: { startMs: 0, endMs: Infinity },
    isAutoApplied: tax.isAutoApplied,
  }));
}

export function productWallets({ wallets }: Subscription): readonly PrepaidWallet[] {
  return wallets.map(({ id, createdAt, creditBalance, conversionRate, allowed }) => ({
    id,
    createdAtMs: createdAt,
    balance: decimalOf(creditBalance).times(decimalOf(conversionRate)),
    allowedPriceTypes: [allowed],
  }));
}
