import type { DateTime, DecimalText } from '../../records/record-dto.js';
import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';
import type { CreditSumsDto } from '../settle/credit-sums-dto.js';

export type CancellationType = 'immediate' | 'end_of_period' | 'scheduled_date';

/** @example {"cancellation_type": "end_of_period", "reason": "moved to another product"} */
export interface CancelSubscriptionBody {
  /**
   * `immediate` at once, or at a past `cancel_at`; `end_of_period` with the running period;
   * `scheduled_date` at a future `cancel_at`.
   * @default "immediate"
   */
  cancellation_type?: CancellationType;
  cancel_at?: DateTime;
  /** @maxLength 1000 */
  reason?: string;
  /**
   * `create_prorations` gives what is unused of fees that were charged in advance to a wallet,
   * where the subscription ends; with `none` they stay as they are.
   * @default "none"
   */
  proration_behavior?: 'none' | 'create_prorations';
  /**
   * Whether an immediate cancellation makes a final invoice of what is not billed yet. It does when
   * there is anything to bill, unless this says `skip`.
   */
  invoice_policy?: 'generate_invoice' | 'skip';
  /** Answers what would happen, and stores nothing. @default false */
  dry_run?: boolean;
}

/** What a cancellation gives back or charges for one line. */
export interface ProrationDetailDto {
  plan_name: string;
  price_id: string;
  line_item_id: string;
  description: string;
  original_amount: DecimalText;
  credit_amount: DecimalText;
  charge_amount: DecimalText;
  /** @isInt */
  proration_days: number;
}

/** What became of a request to cancel. */
export interface CancellationDto {
  subscription_id: string;
  cancellation_type: CancellationType;
  /** From which instant on the subscription has ended, or will have. */
  effective_date: DateTime;
  status: 'active' | 'paused' | 'cancelled' | 'incomplete' | 'trialing' | 'draft';
  reason: string | null;
  /** The final invoice; null when nothing was left to bill, or is billed later. */
  proration_invoice: InvoiceDto | null;
  proration_details: ProrationDetailDto[];
  /** What was given back, with taxes; where it ends later, what is expected to be then. */
  total_credit_amount: DecimalText;
  /** Where that goes. */
  credit: CreditSumsDto;
  message: string;
  processed_at: DateTime;
  /** Whether it was only a look. */
  dry_run: boolean;
}
