import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { Grouping } from '../../usage/usage-grouping.js';
import type { ChargedLine } from '../../domain/invoice/invoice.js';
import type { InvoicePurpose } from './invoice-purpose.js';
import type { LateQuery } from './late-query.js';

/** Which invoice is computed. */
export type InvoiceQuery = {
  readonly loaded: BilledSubscription;
  /** A billing period, or an interval that was checked. */
  readonly period: Interval;
  /** The line items of the subscription that take part. */
  readonly lineItems: readonly LineItemRow[];
  readonly grouping: Grouping;
  readonly hideZeroCharges: boolean;
  readonly purpose: InvoicePurpose;
  readonly now: InstantMs;
  /** The stored invoice that is computed again; null or absent for a new one. */
  readonly invoiceId?: string | null;
  /** Earlier periods of which usage came late; absent without any (docs/domain.md 13.8). */
  readonly late?: readonly LateQuery[];
  /** What later invoices charged for the period; absent where they have nothing. */
  readonly chargedLate?: readonly ChargedLine[];
  /** Grouped children, each with its own period; absent where there are none (29.2). */
  readonly children?: readonly InvoiceQuery[];
};
