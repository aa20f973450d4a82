import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { Proration } from '../../domain/calendar/proration.js';
import { lineBillingOf } from '../../domain/invoice/line-billing.js';
import { unpausedMs } from '../../domain/periods/ledger-periods.js';
import { ownPeriodAt, type OwnPeriod } from '../../domain/periods/own-periods.js';
import type { Price } from '../../domain/price/price.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';

/** What is left of a line's own period, and its share of a full one (docs/domain.md 23.2). */
export type RestOfPeriod = {
  readonly own: OwnPeriod;
  /** From the instant to the end of the period, or of the line in it. */
  readonly period: Interval;
  readonly proration: Proration;
};

/**
 * The rest of the period of a line item that runs at an instant; null in a trial, which charges
 * nothing.
 * @param fromMs where the rest begins, if it is not that instant.
 * @param endMs where the line ends; null while it has no end.
 */
export function restOfPeriod(
  { terms }: BilledSubscription,
  price: Price,
  {
    atMs,
    endMs,
    fromMs = atMs,
  }: { readonly atMs: InstantMs; readonly endMs: InstantMs | null; readonly fromMs?: InstantMs },
): RestOfPeriod | null {
  const own = ownPeriodAt(terms, lineBillingOf(price, terms).steps, atMs);
  if (own === null) return null;
  const full = terms.prorationBehavior === 'create_prorations' ? own.full : own.fullUnscaled;
  const period = { startMs: fromMs, endMs: Math.min(own.endMs, endMs ?? Infinity) };
  return {
    own,
    period,
    proration: {
      coveredMs: unpausedMs(period, own.pauses),
      fullMs: full.endMs - full.startMs,
    },
  };
}
