import type { InstantMs, Interval } from '../../../contract/instant.js';
import {
  boundaryAt,
  boundaryIndexAt,
  resolveBillingAnchor,
} from '../calendar/billing-boundaries.js';
import {
  gridFrom,
  lastRecorded,
  type LedgerPeriod,
  type NumberedAnchor,
  type PeriodLedger,
  type PeriodTerms,
} from './period-ledger.js';

/** The operations of docs/domain.md 12.10 on a ledger. Each returns a new ledger. */

/** The row that begins at an instant, up to the first boundary after it or the end. */
export function rowFrom(
  terms: PeriodTerms,
  start: { readonly index: number; readonly startMs: InstantMs; readonly anchor: NumberedAnchor },
): LedgerPeriod {
  const { anchor } = start;
  const grid = gridFrom(terms, anchor);
  const step = boundaryIndexAt(grid, start.startMs);
  const full = { startMs: boundaryAt(grid, step), endMs: boundaryAt(grid, step + 1) };
  const endMs = Math.min(full.endMs, terms.endMs ?? Infinity);
  const isLast = terms.billingCadence === 'ONETIME' || endMs === terms.endMs;
  return {
    ...start,
    endMs,
    kind: isLast ? 'last' : 'regular',
    gridNumber: anchor.number + step,
    grid: full,
    pauses: [],
  };
}

/** The first row of a subscription: its trial, or its first billing period. */
export function openLedger(
  terms: PeriodTerms,
  opening: {
    readonly startMs: InstantMs;
    /** As `resolveBillingAnchor` makes it. */
    readonly billingAnchorMs: InstantMs;
    readonly trialEndMs: InstantMs | null;
  },
): PeriodLedger {
  const { startMs, billingAnchorMs, trialEndMs } = opening;
  const first = rowFrom(terms, { index: 0, startMs, anchor: { atMs: billingAnchorMs, number: 0 } });
  if (trialEndMs === null) return { ...terms, periods: [first] };
  const endMs = Math.min(trialEndMs, terms.endMs ?? Infinity);
  return { ...terms, periods: [{ ...first, endMs, kind: 'trial' }] };
}

/** The rows that a threshold invoice split and that end with the last recorded one. */
function lastUnsplitRows({ periods }: PeriodLedger): readonly LedgerPeriod[] {
  const before = periods.slice(0, -1).findLastIndex(({ kind }) => kind !== 'threshold');
  return periods.slice(before + 1);
}

/** The anchor in force after the last recorded row. */
export function anchorAfter(ledger: PeriodLedger): NumberedAnchor {
  const last = lastRecorded(ledger);
  const { billingCycle, billingPeriod, timezone } = ledger;
  if (last.kind === 'trial') {
    const request = { billingCycle, billingPeriod, timezone, startMs: last.endMs };
    return { atMs: resolveBillingAnchor({ ...request, billingAnchorMs: null }), number: 0 };
  }
  const wasPaused = lastUnsplitRows(ledger).some(({ pauses }) => pauses.length > 0);
  const isKept = billingCycle === 'calendar' || ledger.isGrouped === true;
  if (!wasPaused || isKept) return last.anchor;
  return { atMs: last.endMs, number: last.gridNumber + 1 };
}

/** Whether no row follows the last recorded one, because the subscription ends with it. */
export function isOver(ledger: PeriodLedger): boolean {
  const { kind, endMs } = lastRecorded(ledger);
  return kind === 'last' || endMs === ledger.endMs;
}

/**
 * Appends the next row: a renewal, or the first billed period after a trial.
 * @throws TypeError when the subscription ends with the last row.
 */
export function appendRow(ledger: PeriodLedger): PeriodLedger {
  if (isOver(ledger)) throw new TypeError('no period follows the end of a subscription');
  const { index, endMs: startMs } = lastRecorded(ledger);
  const row = rowFrom(ledger, { index: index + 1, startMs, anchor: anchorAfter(ledger) });
  return { ...ledger, periods: [...ledger.periods, row] };
}

/** Puts rows in the place of the last recorded one. */
function withLast(ledger: PeriodLedger, rows: readonly LedgerPeriod[]): PeriodLedger {
  const [first, ...others] = [...ledger.periods.slice(0, -1), ...rows];
  if (first === undefined) throw new TypeError('a ledger has at least one row');
  return { ...ledger, periods: [first, ...others] };
}

/**
 * Splits the running row at the instant of a threshold invoice.
 * @throws TypeError when the instant is not inside the row.
 */
export function splitLastRow(ledger: PeriodLedger, atMs: InstantMs): PeriodLedger {
  const row = lastRecorded(ledger);
  if (atMs <= row.startMs || atMs >= row.endMs) throw new TypeError('not inside the running row');
  const closed = { ...row, endMs: atMs, kind: 'threshold' as const };
  const running = { ...row, index: row.index + 1, startMs: atMs, pauses: [] };
  return withLast(ledger, [closed, running]);
}

/**
 * Records a pause that has ended: the end of the running row, in which it began, moves by its
 * length, at most to the end of the subscription.
 */
export function recordPause(ledger: PeriodLedger, pause: Interval): PeriodLedger {
  const row = lastRecorded(ledger);
  const moved = row.endMs + pause.endMs - pause.startMs;
  const endMs = Math.min(moved, ledger.endMs ?? Infinity);
  const kind = endMs === ledger.endMs ? 'last' : row.kind;
  return withLast(ledger, [{ ...row, endMs, kind, pauses: [...row.pauses, pause] }]);
}

/**
 * The ledger without the rows that begin at an instant or later; the first one stays in any case. A
 * subscription that ends there has lived no others.
 */
export function rowsBefore(ledger: PeriodLedger, atMs: InstantMs): PeriodLedger {
  const [first, ...others] = ledger.periods;
  return { ...ledger, periods: [first, ...others.filter(({ startMs }) => startMs < atMs)] };
}

/**
 * Ends the subscription at an instant of the running row, or at its end. Of pauses only the time
 * before it has been.
 */
export function endLedger(ledger: PeriodLedger, atMs: InstantMs): PeriodLedger {
  const row = lastRecorded(ledger);
  const kind = row.kind === 'trial' ? 'trial' : 'last';
  const pauses = row.pauses
    .filter(({ startMs }) => startMs < atMs)
    .map(({ startMs, endMs }) => ({ startMs, endMs: Math.min(endMs, atMs) }));
  return { ...withLast(ledger, [{ ...row, endMs: atMs, kind, pauses }]), endMs: atMs };
}

/**
 * The running row goes on to where it would have ended, because the subscription does not end in it
 * any more: the terms are those without that end.
 */
export function reopenLastRow(ledger: PeriodLedger): PeriodLedger {
  const row = lastRecorded(ledger);
  const { index, startMs, anchor, pauses } = row;
  const whole = rowFrom(ledger, { index, startMs, anchor });
  const pausedMs = pauses.reduce((sum, pause) => sum + pause.endMs - pause.startMs, 0);
  const endMs = Math.min(whole.endMs + pausedMs, ledger.endMs ?? Infinity);
  const kind = row.kind === 'trial' ? row.kind : endMs === ledger.endMs ? 'last' : whole.kind;
  return withLast(ledger, [{ ...row, endMs, kind }]);
}
