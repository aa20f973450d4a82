import type {
  Currency,
  DateTime,
  DecimalText,
  MetadataDto,
  RecordStatusDto,
} from '../../records/record-dto.js';
import type { CouponDto } from '../../generated/standard/coupon-types.js';
import type { TaxRateDto } from '../../generated/standard/tax-rate-types.js';

/** A coupon as it was when it was applied. */
export interface CouponSnapshotDto {
  name: string;
  coupon_code: string | null;
  type: CouponDto['type'];
  cadence: CouponDto['cadence'];
  amount_off: DecimalText | null;
  percentage_off: DecimalText | null;
  currency: Currency | null;
  /** @isInt */
  duration_in_periods: number | null;
}

/** What a coupon takes off an invoice. */
export interface CouponApplicationDto {
  /** Null while the invoice is not stored, as the next two that are null then. */
  id: string | null;
  coupon_id: string;
  /**
   * It says whether the coupon is on a line item or on the invoice as a whole; null for a coupon of
   * a one-off invoice.
   */
  coupon_association_id: string | null;
  coupon_snapshot: CouponSnapshotDto;
  invoice_id: string | null;
  invoice_line_item_id: string | null;
  subscription_id: string | null;
  currency: Currency;
  discount_type: CouponDto['type'];
  discount_percentage: DecimalText | null;
  discounted_amount: DecimalText;
  /** What the discount was computed from. */
  original_price: DecimalText;
  /** `original_price` less `discounted_amount`. */
  final_price: DecimalText;
  applied_at: DateTime;
  metadata: MetadataDto;
  status: RecordStatusDto;
}

/** A tax on an invoice. */
export interface AppliedTaxDto {
  id: string | null;
  /** What the association belongs to that brought the tax. */
  entity_type: 'tenant' | 'customer' | 'subscription' | 'invoice';
  entity_id: string;
  tax_rate_id: string;
  tax_rate: TaxRateDto;
  /** Null for a tax that was named with a one-off invoice. */
  tax_association_id: string | null;
  taxable_amount: DecimalText;
  tax_amount: DecimalText;
  currency: Currency;
  applied_at: DateTime;
  idempotency_key: string | null;
  metadata: MetadataDto;
  status: RecordStatusDto;
  created_at: DateTime | null;
  created_by: string | null;
  updated_at: DateTime | null;
  updated_by: string | null;
}
