import { DAY_MS, type InstantMs, type Interval } from '../../../contract/instant.js';
import type { ReferencePoint } from './invoice.js';

/** Days until an invoice is due when neither subscription nor settings say so (domain.md 16). */
export const DUE_DAYS_DEFAULT = 1;

/** Days of payment terms such as `15 NET`; null where there are none. */
export function netDaysOf(paymentTerms: string | null): number | null {
  const days = /^(\d+) NET$/.exec(paymentTerms ?? '')?.[1];
  return days === undefined ? null : Number(days);
}

/**
 * When an invoice of a subscription is due: days of 24 hours after its period, for an opening
 * invoice after the start of it (domain.md 16).
 */
export function dueDateOf(
  period: Interval,
  referencePoint: ReferencePoint,
  days: number,
): InstantMs {
  const from = referencePoint === 'period_start' ? period.startMs : period.endMs;
  return from + days * DAY_MS;
}
