import { plain, type Decimal } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import { formatMoney, Money } from '../../domain/money/money.js';
import type { DocumentCoupon, DocumentTax, InvoiceHeader } from '../invoice-document.js';
import type { AppliedTaxDto, CouponApplicationDto } from './adjustment-dto.js';
import { identityToDto } from './invoice-line-answer.js';

/** What a coupon took off an invoice. */
export function couponApplicationToDto(
  coupon: DocumentCoupon,
  { id: invoiceId, currency }: InvoiceHeader,
): CouponApplicationDto {
  const { discount_percentage: percentage } = coupon;
  const money = (amount: Decimal): string => formatMoney(new Money(amount, currency));
  return {
    id: coupon.id,
    coupon_id: coupon.coupon_id,
    coupon_association_id: coupon.coupon_association_id,
    coupon_snapshot: coupon.coupon_snapshot,
    invoice_id: invoiceId,
    invoice_line_item_id: coupon.invoice_line_item_id,
    subscription_id: coupon.subscription_id,
    currency,
    discount_type: coupon.discount_type,
    discount_percentage: percentage === null ? null : plain(percentage),
    discounted_amount: money(coupon.discounted_amount),
    original_price: money(coupon.original_price),
    final_price: money(coupon.final_price),
    applied_at: formatInstant(coupon.applied_at),
    metadata: coupon.metadata,
    status: coupon.status,
  };
}

/** A tax on an invoice. */
export function appliedTaxToDto(tax: DocumentTax, { currency }: InvoiceHeader): AppliedTaxDto {
  return {
    ...identityToDto(tax),
    entity_type: tax.entity_type,
    entity_id: tax.entity_id,
    tax_rate_id: tax.tax_rate_id,
    tax_rate: tax.tax_rate,
    tax_association_id: tax.tax_association_id,
    taxable_amount: formatMoney(new Money(tax.taxable_amount, currency)),
    tax_amount: formatMoney(new Money(tax.tax_amount, currency)),
    currency,
    applied_at: formatInstant(tax.applied_at),
    idempotency_key: tax.idempotency_key,
  };
}
