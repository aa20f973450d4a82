import { DAY_MS, type InstantMs, type Interval } from '../../../../contract/instant.js';
import type { ReferencePoint } from '../invoice.js';

/**
 * Days until an invoice is due, unless the subscription or settings say otherwise (docs/domain.md
 * 16).
 */
export const DUE_DAYS_DEFAULT = 1;

/** Days of payment terms such as `15 NET`; null where there are none. */
export function netDaysOf(paymentTerms: string | null): number | null {
  if (paymentTerms === null) return null;
  const days = /^(\d+) NET$/.exec(paymentTerms)?.[1];
  return days === undefined ? null : Number(days);
}

/**
 * The due date of an invoice of a subscription (docs/domain.md 16). It lies `days` times 24 hours
 * after the end of its period, or after its start for an opening invoice.
 */
export function dueDateOf(
  period: Interval,
  referencePoint: ReferencePoint,
  days: number,
): InstantMs {
  const from = referencePoint === 'period_start' ? period.startMs : period.endMs;
  return from + days * DAY_MS;
}
