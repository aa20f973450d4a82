import type { CouponAssociationDto } from '../../declarations/coupons/coupon-association.resource.js';
import type { WalletTransactionDto } from '../../declarations/money/wallet-transaction.resource.js';
import type { TaxAssociationDto } from '../../declarations/taxes/tax-association.resource.js';
import type { DateTime, DecimalText } from '../../records/record-dto.js';
import type { ExpandedSubscriptionDto } from '../../subscriptions/subscription-expansions.js';
import type { GroupedInvoicingParamsBody } from '../groups/group.js';
import type { InheritanceParamsBody } from '../groups/modify-inheritance.js';
import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';

/** A line item that is to have another quantity. */
export interface QuantityOfLineBody {
  id: string;
  quantity: DecimalText;
  /** In the running period; now when absent. */
  effective_date?: DateTime;
}

export interface QuantityChangeParamsBody {
  /**
   * @minItems 1
   * @maxItems 100
   */
  line_items: QuantityOfLineBody[];
}

export interface TrialEndParamsBody {
  /** `immediate` ends the trial now, `scheduled_date` at `new_trial_end`. */
  action: 'immediate' | 'scheduled_date';
  new_trial_end?: DateTime;
}

/** A coupon that a subscription is to have. */
export interface AddedCouponBody {
  /** @minLength 1 @maxLength 255 */
  coupon_code: string;
  /** It discounts this line item and those that continue it; the invoice when absent. */
  line_item_id?: string;
  /** Now when absent. It discounts invoices whose period overlaps the time between both dates. */
  start_date?: DateTime;
  /** That of the coupon's own duration when absent. */
  end_date?: DateTime;
}

export interface CouponParamsBody {
  /** @maxItems 100 */
  add?: AddedCouponBody[];
  /** Ids of coupon associations, which end now. @maxItems 100 */
  remove?: string[];
}

/** A tax rate that a subscription is to have. */
export interface AddedTaxBody {
  /** @minLength 1 @maxLength 255 */
  tax_rate_code: string;
  /**
   * @isInt
   * @minimum 0
   * @maximum 1000000
   * @default 100
   */
  priority?: number;
}

export interface TaxParamsBody {
  /** @maxItems 100 */
  add?: AddedTaxBody[];
  /** Ids of tax associations of the subscription. @maxItems 100 */
  remove?: string[];
}

/**
 * The type, and the member that goes with it.
 * @example {"type": "quantity_change", "quantity_change_params": {"line_items":
 *   [{"id": "subs_line_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "quantity": "15"}]}}
 */
export interface ModifySubscriptionBody {
  type: 'quantity_change' | 'trial_end' | 'coupon' | 'tax' | 'inheritance' | 'grouped_invoicing';
  quantity_change_params?: QuantityChangeParamsBody;
  trial_end_params?: TrialEndParamsBody;
  coupon_params?: CouponParamsBody;
  tax_params?: TaxParamsBody;
  inheritance_params?: InheritanceParamsBody;
  grouped_invoicing_params?: GroupedInvoicingParamsBody;
}

export interface ModifiedLineDto {
  id: string;
  price_id: string;
  quantity: DecimalText;
  start_date: DateTime;
  end_date: DateTime | null;
  change_action: 'ended' | 'created';
}

export interface ModifiedSubscriptionDto {
  id: string;
  action: 'updated' | 'activated' | 'created' | 'cancelled';
  status: 'active' | 'paused' | 'cancelled' | 'incomplete' | 'trialing' | 'draft';
  trial_end: DateTime | null;
  current_period_end: DateTime;
}

/** What the change was settled by: an invoice, or credits of a wallet; the other one is null. */
export interface ModifiedInvoiceDto {
  id: string;
  action: 'created' | 'credited';
  status: string;
  invoice: InvoiceDto | null;
  wallet_transaction: WalletTransactionDto | null;
}

export interface ModifiedCouponDto extends CouponAssociationDto {
  /** `removed` where it had discounted nothing, and never will. */
  change_action: 'attached' | 'ended' | 'removed';
}

export interface ModifiedTaxDto extends TaxAssociationDto {
  change_action: 'attached' | 'ended' | 'removed';
}

export interface ChangedResourcesDto {
  line_items: ModifiedLineDto[];
  subscriptions: ModifiedSubscriptionDto[];
  invoices: ModifiedInvoiceDto[];
  coupon_associations: ModifiedCouponDto[];
  tax_associations: ModifiedTaxDto[];
}

/** What a modification has done, or would do. */
export interface ModifiedDto {
  subscription: ExpandedSubscriptionDto;
  changed_resources: ChangedResourcesDto;
}
