import { formatInstant } from '../../../contract/instant.js';
import { isLimited } from '../../domain/adjustments/coupon-cadences.js';
import { usageSince } from '../../domain/invoice/invoice-scope.js';
import { periodAt } from '../../domain/periods/ledger-periods.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { InvoiceQuery } from '../compute/invoice-query.js';
import { lookBackFrom } from '../drafts/look-back.js';
import { findEarlierInvoices } from '../drafts/prior-invoices.js';

/** Whether a coupon is taken a limited number of times (docs/domain.md 14.4). */
function hasCountedCoupons({ related }: BilledSubscription): boolean {
  return related.coupons.some(({ coupon }) => isLimited(coupon.cadence));
}

/** Whether earlier periods may have used up a part of a commitment (docs/domain.md 11.2). */
function hasCommitments({ terms, related }: BilledSubscription): boolean {
  return (
    terms.commitment !== null ||
    related.lineItems.some(({ commitment_type: type }) => type !== null)
  );
}

/** Whether threshold invoices have split the period (docs/domain.md 30.1). */
function isSplit({ loaded, period }: InvoiceQuery): boolean {
  return usageSince(loaded.terms, period) !== null;
}

/** Whether what earlier invoices took decides an amount. */
function isCounting({ loaded }: Pick<InvoiceQuery, 'loaded'>): boolean {
  return hasCountedCoupons(loaded) || hasCommitments(loaded);
}

function startOf({ loaded, period }: InvoiceQuery): number {
  return periodAt(loaded.terms, period.startMs)?.startMs ?? period.startMs;
}

/**
 * Previews with what the invoices before their periods have taken: applications of coupons, parts
 * of commitments, and what threshold invoices charged. Invoices are read only for those that need
 * it, which are few.
 */
export async function withEarlierInvoices(
  unit: ReadUnit,
  queries: readonly (InvoiceQuery | Refusal)[],
): Promise<readonly (InvoiceQuery | Refusal)[]> {
  const needing = new Map(
    queries.flatMap((query) => {
      if (isRefusal(query) || !(isSplit(query) || isCounting(query))) return [];
      return [[query, lookBackFrom(query.loaded, query.period)] as const];
    }),
  );
  if (needing.size === 0) return queries;
  const earlierOf = await findEarlierInvoices(unit, {
    subscriptionIds: [...needing.keys()].map(({ loaded }) => loaded.subscription.id),
    since: Math.min(...needing.values()),
  });
  return queries.map((query) => {
    if (isRefusal(query)) return query;
    const since = needing.get(query);
    if (since === undefined) return query;
    const earlier = earlierOf(query.loaded.subscription.id, { before: startOf(query), since });
    return { ...query, purpose: { ...query.purpose, ...earlier } };
  });
}

/**
 * What a preview could not count: invoices of periods before it that do not exist yet. Empty where
 * no coupon and no commitment depends on them.
 */
export function uncountedOf(query: InvoiceQuery): readonly string[] {
  const { current_period_start: invoicedUntil } = query.loaded.subscription;
  if (!isCounting(query) || startOf(query) <= invoicedUntil) return [];
  return [
    `coupons and commitments count what was invoiced for the time before ${formatInstant(invoicedUntil)}; ` +
      'what is between this instant and the period of the preview is not invoiced yet',
  ];
}
