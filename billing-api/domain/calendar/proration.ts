import type { InstantMs } from '../../../contract/instant.js';
import { boundaryAt, boundaryIndexAt } from './billing-boundaries.js';
import type { BillingGrid } from './billing-grid.js';

/** Whether charges of a partial period are scaled to the part that they cover. */
export type ProrationBehavior = 'create_prorations' | 'none';

/** `coveredMs / fullMs` of a full charge or commitment; exact milliseconds. */
export type Proration = { readonly coveredMs: number; readonly fullMs: number };

/**
 * The smallest number of local days after which a period has ended, counted from an instant
 * (docs/domain.md 23.4).
 */
export function prorationDays(atMs: InstantMs, endMs: InstantMs, timezone: string): number {
  if (endMs <= atMs) return 0;
  const days: BillingGrid = {
    billingCycle: 'anniversary',
    billingPeriod: 'DAILY',
    billingPeriodCount: 1,
    billingAnchorMs: atMs,
    timezone,
  };
  const whole = boundaryIndexAt(days, endMs);
  return boundaryAt(days, whole) < endMs ? whole + 1 : whole;
}
