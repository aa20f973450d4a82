import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { BillingCadence, BillingGrid } from '../calendar/billing-grid.js';

/**
 * `trial` is never billed; `threshold` was closed by a threshold invoice and its grid period goes
 * on in the next row; `last` ends with the subscription (docs/domain.md 12.10).
 */
export type PeriodKind = 'trial' | 'regular' | 'threshold' | 'last';

/** A billing anchor with its number, from which grid periods are counted on where it moved. */
export type NumberedAnchor = { readonly atMs: InstantMs; readonly number: number };

/** One row of the period ledger (docs/domain.md 12.10). */
export type LedgerPeriod = Interval & {
  /** 0, 1, 2 … without gaps. */
  readonly index: number;
  readonly kind: PeriodKind;
  /** The anchor that the row was made under. */
  readonly anchor: NumberedAnchor;
  /** The number of the grid period that the row belongs to. */
  readonly gridNumber: number;
  /** That grid period `[b_k, b_k+1)`: not cut by start or end, and not moved by pauses. */
  readonly grid: Interval;
  /** Pauses inside the row that have ended, in the order of time. */
  readonly pauses: readonly Interval[];
};

/** What the next row of a ledger is made from. */
export type PeriodTerms = Omit<BillingGrid, 'billingAnchorMs'> & {
  readonly billingCadence: BillingCadence;
  /**
   * The instant at which the subscription ceases to exist: the earlier of `end_date` and the
   * effective cancellation (with `cancel_at_period_end`, the end of the current period); null while
   * it has no end.
   */
  readonly endMs: InstantMs | null;
  /** It is billed with others, whose periods its own end with: pauses do not move its anchor. */
  readonly isGrouped?: boolean;
};

/** The recorded periods of a subscription; rows after them are what renewals would append. */
export type PeriodLedger = PeriodTerms & {
  /** In the order of time, each from the end of the one before. */
  readonly periods: readonly [LedgerPeriod, ...LedgerPeriod[]];
};

/** The last recorded row. */
export function lastRecorded({ periods }: PeriodLedger): LedgerPeriod {
  return periods.at(-1) ?? periods[0];
}

/** The boundaries that are counted from an anchor. */
export function gridFrom(terms: PeriodTerms, { atMs }: NumberedAnchor): BillingGrid {
  const { billingCycle, billingPeriod, billingPeriodCount, timezone } = terms;
  return { billingCycle, billingPeriod, billingPeriodCount, timezone, billingAnchorMs: atMs };
}
