import type { InstantMs, Interval } from '../../../contract/instant.js';
import { boundaryAt, gridPeriodAt } from '../calendar/billing-boundaries.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';
import { billedFromMs, lifeOf, periodAt } from './ledger-periods.js';
import { anchorAfter, isOver } from './ledger-rows.js';
import {
  gridFrom,
  lastRecorded,
  type LedgerPeriod,
  type NumberedAnchor,
  type PeriodLedger,
} from './period-ledger.js';

/** A period of a whole number of billing periods (docs/domain.md 13.3). */
export type OwnPeriod = Interval & {
  /** G of docs/domain.md 13.4: a full period of this length, without pauses. */
  readonly full: Interval;
  /** G without prorations: a short first period is a full one. */
  readonly fullUnscaled: Interval;
  readonly pauses: readonly Interval[];
};

/** The boundary with a number, counted from an anchor. */
function boundaryOf(ledger: PeriodLedger, anchor: NumberedAnchor, number: number): InstantMs {
  return boundaryAt(gridFrom(ledger, anchor), number - anchor.number);
}

/** The numbers of the grid periods that make one own period: `[from, to)`. */
type Numbers = { readonly from: number; readonly to: number };

function recordedRows({ periods }: PeriodLedger, { from, to }: Numbers): readonly LedgerPeriod[] {
  return periods.filter(
    ({ kind, gridNumber }) => kind !== 'trial' && gridNumber >= from && gridNumber < to,
  );
}

/** The end of the last row of an own period, recorded or projected. */
function endOf(
  ledger: PeriodLedger,
  numbers: Numbers,
  recorded: readonly LedgerPeriod[],
): InstantMs {
  const last = recorded.at(-1);
  const next = periodAt(ledger, lastRecorded(ledger).endMs);
  const isRecorded = next === null || next.gridNumber >= numbers.to;
  if (last !== undefined && isRecorded) return last.endMs;
  const endMs = boundaryOf(ledger, anchorAfter(ledger), numbers.to);
  return Math.min(endMs, lifeOf(ledger).endMs);
}

/**
 * The period of `steps` billing periods that contains an instant, cut to the billed life of the
 * subscription; null outside it. With 1 step it is the billing period as if no threshold invoice
 * had split it.
 */
export function ownPeriodAt(
  ledger: PeriodLedger,
  steps: number,
  instant: InstantMs,
): OwnPeriod | null {
  const row = periodAt(ledger, instant);
  if (row === null || row.kind === 'trial') return null;
  const from = Math.floor(row.gridNumber / steps) * steps;
  const numbers = { from, to: from + steps };
  const recorded = recordedRows(ledger, numbers);
  const [first] = recorded;
  const { anchor } = first ?? row;
  const full = {
    startMs: boundaryOf(ledger, anchor, numbers.from),
    endMs: boundaryOf(ledger, anchor, numbers.to),
  };
  const startMs = first?.startMs ?? Math.max(full.startMs, lastRecorded(ledger).endMs);
  const isFirst = startMs === billedFromMs(ledger);
  return {
    startMs,
    endMs: endOf(ledger, numbers, recorded),
    full,
    fullUnscaled: isFirst ? { startMs, endMs: full.endMs } : full,
    pauses: recorded.flatMap(({ pauses }) => pauses),
  };
}

/** The time in which an anchor is in force; `-Infinity` for the first one. */
function timeOf(ledger: PeriodLedger, { anchor }: LedgerPeriod): Interval {
  const isOther = (other: NumberedAnchor): boolean =>
    other.atMs !== anchor.atMs || other.number !== anchor.number;
  const { periods } = ledger;
  const own = periods.findIndex((row) => !isOther(row.anchor));
  if (own < 0) return { startMs: lastRecorded(ledger).endMs, endMs: Infinity };
  const next = periods.slice(own).find((row) => isOther(row.anchor));
  const isInForce = next === undefined && !isOver(ledger) && !isOther(anchorAfter(ledger));
  return {
    startMs: own === 0 ? -Infinity : (periods[own]?.startMs ?? -Infinity),
    endMs: next?.startMs ?? (isInForce ? Infinity : lastRecorded(ledger).endMs),
  };
}

/**
 * The period of any length that contains an instant, counted from the anchor of the row that
 * contains it. Where the anchor moves, one period ends and another begins (docs/domain.md 10.2).
 */
export function anchoredPeriodAt(
  ledger: PeriodLedger,
  billingPeriod: BillingPeriod,
  instant: InstantMs,
): Interval | null {
  const row = periodAt(ledger, instant);
  if (row === null) return null;
  const grid = { ...gridFrom(ledger, row.anchor), billingPeriod, billingPeriodCount: 1 };
  const period = gridPeriodAt(grid, instant);
  const inForce = timeOf(ledger, row);
  return {
    startMs: Math.max(period.startMs, inForce.startMs),
    endMs: Math.min(period.endMs, inForce.endMs),
  };
}
