import { netDaysOf } from '../../domain/invoice/pricing/due-date.js';
import type { Interval } from '../../../contract/instant.js';
import type { EarlierSegment, InvoiceInputs } from '../../domain/invoice/invoice.js';
import { usageSince } from '../../domain/invoice/invoice-scope.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import type { BillingReason } from '../../declarations/invoices/invoice.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { InvoiceConfig } from '../../platform/settings/invoice-config.js';

/**
 * What an invoice is computed for: everything among its inputs that depends on the occasion, and
 * not on the subscription or on usage.
 */
export type InvoicePurpose = Pick<
  InvoiceInputs,
  | 'referencePoint'
  | 'isAdvanceHeld'
  | 'alreadyInvoiced'
  | 'priorCommitments'
  | 'wallets'
  | 'dueDays'
> & {
  readonly billingReason: BillingReason;
  /**
   * Applications of a coupon on other invoices, by its association (docs/domain.md 14.4); an
   * association without an entry was never applied.
   */
  readonly couponApplicationCounts: ReadonlyMap<string, number>;
  /** What threshold invoices of the subscription charged; absent where there are none. */
  readonly segmentsBefore?: readonly ChargedSegment[];
  /** What a plan change takes off (docs/domain.md 25.3). */
  readonly unused?: InvoiceInputs['unused'];
};

/** What a threshold invoice charged for a line, and the time that it billed. */
export type ChargedSegment = { readonly segment: EarlierSegment; readonly period: Interval };

/** What was charged in the billing period that a part of it belongs to, before that part. */
export function segmentsBefore(
  terms: PeriodLedger,
  period: Interval,
  charged: readonly ChargedSegment[],
): readonly EarlierSegment[] {
  const sinceMs = usageSince(terms, period);
  if (sinceMs === null) return [];
  return charged
    .filter(({ period: own }) => own.startMs >= sinceMs && own.endMs <= period.startMs)
    .map(({ segment }) => segment);
}

/** A look at a period for which no earlier invoice matters; no wallet pays. */
export function previewPurpose(dueDays: number): InvoicePurpose {
  return {
    billingReason: 'SUBSCRIPTION_CYCLE',
    referencePoint: 'period_end',
    alreadyInvoiced: [],
    priorCommitments: [],
    couponApplicationCounts: new Map(),
    wallets: [],
    dueDays,
  };
}

/**
 * Days until the invoices of each subscription are due (docs/domain.md 16): by its payment terms,
 * else by the setting `invoice_config`.
 */
export function dueDaysOf(
  subscriptions: readonly Pick<SubscriptionRow, 'id' | 'payment_terms'>[],
  { due_date_days: byDefault }: InvoiceConfig,
): ReadonlyMap<string, number> {
  return new Map(
    subscriptions.map(({ id, payment_terms: terms }) => [id, netDaysOf(terms) ?? byDefault]),
  );
}
