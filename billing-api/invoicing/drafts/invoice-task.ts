import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { BillingReason } from '../../declarations/invoices/invoice.resource.js';
import type { InvoiceInputs, ReferencePoint } from '../../domain/invoice/invoice.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';

/** An invoice of a subscription that is to be computed and stored. */
export type InvoiceTask = {
  readonly subscriptionId: string;
  /** The subscription, where the snapshot has read it already. */
  readonly loaded?: BilledSubscription;
  /** What the invoice is for: a row of the period ledger. */
  readonly period: Interval;
  readonly reason: BillingReason;
  /** The stored invoice that is computed again; null for a new one. */
  readonly invoiceId: string | null;
  /** Where the subscription ends, although it is not stored so yet: a final invoice. */
  readonly endsAtMs?: InstantMs;
  /** The subscription goes on as another one, so that its commitment is not trued up. */
  readonly isContinued?: boolean;
  /** What the invoice takes off; absent where it takes nothing off. */
  readonly unused?: InvoiceInputs['unused'];
};

/** The ids of the stored invoices among those of tasks. */
export function storedIdsOf(tasks: readonly InvoiceTask[]): readonly string[] {
  return tasks.map(({ invoiceId }) => invoiceId).filter((id) => id !== null);
}

/** Which lines an invoice takes, by what it is made for (docs/domain.md 13.3). */
export function referencePointOf(reason: BillingReason): ReferencePoint {
  switch (reason) {
    case 'SUBSCRIPTION_CREATE':
    case 'SUBSCRIPTION_UPDATE':
    case 'SUBSCRIPTION_TRIAL_START':
    case 'SUBSCRIPTION_TRIAL_END':
      return 'period_start';
    case 'AUTO_INVOICE_THRESHOLD':
      return 'threshold';
    case 'SUBSCRIPTION_CYCLE':
    case 'PRORATION':
    case 'MANUAL':
    case 'WALLET_AUTO_TOPUP':
      return 'period_end';
  }
}
