import { plain } from '../../../contract/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { COUPONS, type CouponRow } from '../../declarations/coupons/coupon.resource.js';
import { recordToDto } from '../../records/resource.js';
import type { AppliedTax, CouponApplication } from '../../domain/adjustments/adjustments.js';
import { formatMoney } from '../../domain/money/money.js';
import { taxRateToDto } from '../../declarations/taxes/tax-rate.resource.js';
import type { AppliedTaxDto, CouponApplicationDto, CouponSnapshotDto } from './adjustment-dto.js';
import { NOT_STORED } from './invoice-line-answer.js';
import type { InvoicePreview } from '../compute/compute-invoice.js';

function snapshotOf(row: CouponRow): CouponSnapshotDto {
  const { name, coupon_code, type, cadence, currency, ...coupon } = recordToDto(COUPONS, row);
  const { amount_off, percentage_off, duration_in_periods } = coupon;
  const terms = { amount_off, percentage_off, currency, duration_in_periods };
  return { name, coupon_code, type, cadence, ...terms };
}

function applicationToDto(
  application: CouponApplication,
  { query, invoice: { currency } }: InvoicePreview,
): CouponApplicationDto {
  const { subscription, related } = query.loaded;
  const { associationId, discountPercentage: percentage } = application;
  const attached = related.coupons.find(({ association }) => association.id === associationId);
  const { coupon } = assertPresent(attached, 'the coupon that was applied');
  return {
    id: null,
    coupon_id: coupon.id,
    coupon_association_id: associationId,
    coupon_snapshot: snapshotOf(coupon),
    invoice_id: null,
    invoice_line_item_id: null,
    subscription_id: subscription.id,
    currency,
    discount_type: application.discountType,
    discount_percentage: percentage === null ? null : plain(percentage),
    discounted_amount: formatMoney(application.discountedAmount),
    original_price: formatMoney(application.originalPrice),
    final_price: formatMoney(application.finalPrice),
    applied_at: formatInstant(query.now),
    metadata: {},
    status: 'published',
  };
}

function taxToDto(
  { association: applied, taxableAmount, taxAmount }: AppliedTax,
  { query, taxes, invoice: { currency } }: InvoicePreview,
): AppliedTaxDto {
  const associated = taxes.find(({ association }) => association.id === applied.id);
  const { rate } = assertPresent(associated, 'the tax rate that was applied');
  return {
    ...NOT_STORED,
    entity_type: applied.level,
    entity_id: applied.entityId,
    tax_rate_id: rate.id,
    tax_rate: taxRateToDto(rate),
    tax_association_id: applied.id,
    taxable_amount: formatMoney(taxableAmount),
    tax_amount: formatMoney(taxAmount),
    currency,
    applied_at: formatInstant(query.now),
    idempotency_key: null,
  };
}

/** What coupons take off an invoice, and the taxes on what they leave. */
export function adjustmentsToDto(preview: InvoicePreview): {
  coupon_applications: CouponApplicationDto[];
  taxes: AppliedTaxDto[];
} {
  const { couponApplications, taxes } = preview.invoice;
  return {
    coupon_applications: couponApplications.map((each) => applicationToDto(each, preview)),
    taxes: taxes.map((each) => taxToDto(each, preview)),
  };
}
