import type { CorrectionDto } from '../../declarations/corrections/correction.resource.js';
import type { CustomerDto } from '../../declarations/customers/customer.resource.js';
import type { EntitlementDto } from '../../declarations/entitlements/entitlement.resource.js';
import type { FeatureDto, ToldOfFeature } from '../../declarations/catalog/feature.resource.js';
import type { InvoiceHeaderDto } from '../../declarations/invoices/invoice-header-dto.js';
import type { CreditNoteDto } from '../../declarations/money/credit-note.resource.js';
import type { PaymentDto } from '../../declarations/money/payment.resource.js';
import type { WalletTransactionDto } from '../../declarations/money/wallet-transaction.resource.js';
import type { AlertSettingsDto } from '../../declarations/alerts/alert-settings.js';
import type { WalletDto } from '../../declarations/money/wallet.resource.js';
import type { PhaseDto } from '../../declarations/subscriptions/phase.resource.js';
import type { SubscriptionDto } from '../../declarations/subscriptions/subscription.resource.js';
import type { EventDto } from '../../events/event-dto.js';
import type { ToldOfSubscription } from '../../subscriptions/subscription-events.js';
import type { Currency, DecimalText } from '../../records/record-dto.js';
import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';

/** What endpoints receive of an invoice: as GET /invoices/{id} answers it. */
export interface InvoicePayload {
  event_type:
    | 'invoice.update'
    | 'invoice.update.finalized'
    | 'invoice.update.payment'
    | 'invoice.update.voided'
    | 'invoice.payment.overdue'
    | 'invoice.payment.retries_finished';
  invoice: InvoiceDto;
}

/** The invoice without its parts. */
export interface InvoiceCommunicationPayload {
  event_type: 'invoice.communication.triggered';
  invoice: InvoiceHeaderDto;
}

/** What events tell of a subscription. */
export interface ToldSubscriptionDto extends Pick<SubscriptionDto, ToldOfSubscription> {
  customer: CustomerDto | null;
}

export interface SubscriptionPayload {
  event_type:
    | 'subscription.created'
    | 'subscription.draft.created'
    | 'subscription.activated'
    | 'subscription.updated'
    | 'subscription.paused'
    | 'subscription.resumed'
    | 'subscription.cancelled'
    | 'subscription.plan_changed'
    | 'subscription.renewal.due';
  subscription: ToldSubscriptionDto;
}

/** What events tell of a phase. */
export interface ToldPhaseDto extends Pick<
  PhaseDto,
  'id' | 'subscription_id' | 'start_date' | 'end_date'
> {}

export interface PhasePayload {
  event_type:
    'subscription.phase.created' | 'subscription.phase.updated' | 'subscription.phase.deleted';
  phase: ToldPhaseDto;
}

/** How far an alert has got. */
export type AlertStateDto = 'ok' | 'info' | 'warning' | 'in_alarm';

export interface SpendAlertDto {
  subscription_id: string;
  line_item_id: string | null;
  group_id: string | null;
  state: AlertStateDto;
  threshold: string | null;
  amount: DecimalText;
  currency: Currency;
}

/** Spend has reached a threshold of an alert, or is below it again. */
export interface SpendAlertPayload {
  event_type:
    | 'subscription.spend.threshold_reached'
    | 'subscription.spend.threshold_recovered'
    | 'subscription.line_item_spend.threshold_reached'
    | 'subscription.line_item_spend.threshold_recovered'
    | 'subscription.group_spend.threshold_reached'
    | 'subscription.group_spend.threshold_recovered';
  alert: SpendAlertDto;
}

/** What events tell of a feature. */
export interface ToldFeatureDto extends Pick<FeatureDto, ToldOfFeature> {}

export interface FeaturePayload {
  event_type: 'feature.created' | 'feature.updated' | 'feature.deleted';
  feature: ToldFeatureDto;
}

export interface FeatureAlertDto {
  alert_type: 'feature_wallet_balance';
  alert_status: AlertStateDto;
  feature_id: string;
  wallet_id: string;
  customer_id: string;
  current_balance: DecimalText;
  credit_balance: DecimalText;
}

/** The balance of a wallet has reached or left a level of a feature. */
export interface FeatureAlertPayload {
  event_type: 'feature.wallet_balance.alert';
  alert: FeatureAlertDto;
}

export interface EntitlementPayload {
  event_type: 'entitlement.created' | 'entitlement.updated' | 'entitlement.deleted';
  entitlement: EntitlementDto;
}

export interface CustomerPayload {
  event_type: 'customer.created' | 'customer.updated' | 'customer.deleted';
  customer: CustomerDto;
}

export interface CreditNotePayload {
  event_type: 'credit_note.created' | 'credit_note.updated';
  credit_note: CreditNoteDto;
}

export interface WalletPayload {
  event_type: 'wallet.created' | 'wallet.updated' | 'wallet.terminated';
  wallet: WalletDto;
}

export interface BalanceAlertDto {
  alert_type: 'credit_balance' | 'ongoing_balance';
  state: AlertStateDto;
  current_balance: DecimalText;
  credit_balance: DecimalText;
  alert_settings: AlertSettingsDto | null;
}

/** The balance of a wallet has reached or left a level of its alert. */
export interface WalletAlertPayload {
  event_type:
    | 'wallet.credit_balance.dropped'
    | 'wallet.credit_balance.recovered'
    | 'wallet.ongoing_balance.dropped'
    | 'wallet.ongoing_balance.recovered'
    | 'wallet.ongoing_balance.updated';
  wallet: WalletDto;
  alert: BalanceAlertDto;
}

export interface WalletTransactionPayload {
  event_type: 'wallet.transaction.created' | 'wallet.transaction.updated';
  transaction: WalletTransactionDto;
}

export interface PaymentPayload {
  event_type:
    | 'payment.created'
    | 'payment.updated'
    | 'payment.pending'
    | 'payment.success'
    | 'payment.failed';
  payment: PaymentDto;
}

/** An event was accepted that no meter counts. */
export interface EventRejectedPayload {
  event_type: 'event.rejected';
  reason: 'no_meter_for_event_name' | 'no_matching_meter';
  event: EventDto;
}

/** Usage came after the invoice of its period was finalized (docs/domain.md 13.8). */
export interface LateUsagePayload {
  event_type: 'usage.late';
  late_usage: {
    invoice_id: string;
    invoice_number: string | null;
    customer_id: string;
    subscription_id: string;
    currency: string;
    /** The lines whose late usage is new, or has become another one. */
    lines: {
      subscription_line_item_id: string | null;
      meter_id: string | null;
      display_name: string;
      /** What is counted now, less what the invoice counted. */
      quantity: string;
      /** What the line costs now, less what the invoice charged for it. */
      amount: string;
    }[];
  };
}

/** A correction of events was applied, or reverted. */
export interface CorrectionPayload {
  event_type: 'correction.applied' | 'correction.reverted';
  correction: CorrectionDto;
}

/** What an endpoint receives, by `event_type` (docs/http.md 11.3). */
export type WebhookPayload =
  | InvoicePayload
  | InvoiceCommunicationPayload
  | SubscriptionPayload
  | PhasePayload
  | SpendAlertPayload
  | FeaturePayload
  | FeatureAlertPayload
  | EntitlementPayload
  | CustomerPayload
  | CreditNotePayload
  | WalletPayload
  | WalletAlertPayload
  | WalletTransactionPayload
  | PaymentPayload
  | EventRejectedPayload
  | LateUsagePayload
  | CorrectionPayload;
