import type { InstantMs } from '../../contract/instant.js';
import { assertPresent, assertThat } from '../../runtime/failure.js';
import { couponSnapshot } from '../declarations/invoices/coupon-application.resource.js';
import { COUPONS, type CouponRow } from '../declarations/coupons/coupon.resource.js';
import { taxRateToDto, type TaxRateRow } from '../declarations/taxes/tax-rate.resource.js';
import type { AppliedTax, CouponApplication } from '../domain/adjustments/adjustments.js';
import { recordToDto } from '../records/resource.js';
import {
  NOT_STORED,
  placeName,
  type DocumentCoupon,
  type DocumentLine,
  type DocumentTax,
} from './invoice-document.js';

/** A coupon that counts for an invoice; without an association it was named with the invoice. */
export type CountedCoupon = {
  readonly association: { readonly id: string; readonly subscription_id: string | null };
  readonly coupon: CouponRow;
};

/** A tax that counts for an invoice, by its association or, named with the invoice, by its rate. */
export type CountedTax = {
  readonly association: { readonly id: string };
  readonly rate: TaxRateRow;
};

/** The first line that a coupon of a line item took something off; null for one of the invoice. */
function lineOf(
  { associationId, lineItemId }: CouponApplication,
  lines: readonly DocumentLine[],
): string | null {
  if (lineItemId === null) return null;
  // It may be the line of an item that continues the one with the coupon.
  const place = lines.findIndex(({ trace }) =>
    trace.discounts.some(({ couponAssociationId }) => couponAssociationId === associationId),
  );
  assertThat(place >= 0, 'a coupon of a line item takes something off one of its lines');
  return placeName(place);
}

/** What coupons took off an invoice with these lines, each with the coupon as it was. */
export function documentCoupons(
  applications: readonly CouponApplication[],
  attached: readonly CountedCoupon[],
  { lines, appliedAt }: { readonly lines: readonly DocumentLine[]; readonly appliedAt: InstantMs },
): readonly DocumentCoupon[] {
  return applications.map((application, position) => {
    const { associationId } = application;
    const own = attached.find(({ association }) => association.id === associationId);
    const { association, coupon } = assertPresent(own, 'the coupon that was applied');
    return {
      ...NOT_STORED,
      invoice_id: null,
      position,
      coupon_id: coupon.id,
      coupon_association_id: association.subscription_id === null ? null : associationId,
      coupon_snapshot: couponSnapshot(recordToDto(COUPONS, coupon)),
      invoice_line_item_id: lineOf(application, lines),
      subscription_id: association.subscription_id,
      discount_type: application.discountType,
      discount_percentage: application.discountPercentage,
      discounted_amount: application.discountedAmount.value,
      original_price: application.originalPrice.value,
      final_price: application.finalPrice.value,
      applied_at: appliedAt,
    };
  });
}

/** The taxes on an invoice, each with the rate as it was. */
export function documentTaxes(
  applied: readonly AppliedTax[],
  associated: readonly CountedTax[],
  appliedAt: InstantMs,
): readonly DocumentTax[] {
  return applied.map(({ association: { id, level, entityId }, ...amounts }, position) => {
    const own = associated.find(({ association }) => association.id === id);
    const { rate } = assertPresent(own, 'the tax rate that was applied');
    return {
      ...NOT_STORED,
      invoice_id: null,
      position,
      entity_type: level,
      entity_id: entityId,
      tax_rate_id: rate.id,
      tax_rate: taxRateToDto(rate),
      // One that was named with the invoice has none.
      tax_association_id: level === 'invoice' ? null : id,
      taxable_amount: amounts.taxableAmount.value,
      tax_amount: amounts.taxAmount.value,
      applied_at: appliedAt,
      idempotency_key: null,
    };
  });
}
