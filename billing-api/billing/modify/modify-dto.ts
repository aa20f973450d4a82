import type { WalletTransactionDto } from '../../declarations/money/wallet-transaction.resource.js';
import type { DateTime, DecimalText } from '../../records/record-dto.js';
import type { ExpandedSubscriptionDto } from '../../subscriptions/subscription-expansions.js';
import type { InvoiceDto } from '../answer/invoice-dto.js';

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

/**
 * The type, and the member that goes with it.
 * @example {"type": "quantity_change", "quantity_change_params": {"line_items":
 *   [{"id": "subs_line_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "quantity": "15"}]}}
 */
export interface ModifySubscriptionBody {
  type: 'quantity_change' | 'trial_end';
  quantity_change_params?: QuantityChangeParamsBody;
  trial_end_params?: TrialEndParamsBody;
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
  action: 'updated' | 'activated';
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

export interface ChangedResourcesDto {
  line_items: ModifiedLineDto[];
  subscriptions: ModifiedSubscriptionDto[];
  invoices: ModifiedInvoiceDto[];
}

/** What a modification has done, or would do. */
export interface ModifiedDto {
  subscription: ExpandedSubscriptionDto;
  changed_resources: ChangedResourcesDto;
}
