import type { Range } from '../usage-oracle/windows.js';
import { gridOf } from './billing-anchor.js';
import { boundaryOf } from './billing-grid.js';
import { firstBilledStart, rowAt, spanOf, type LedgerRow } from './period-ledger.js';
import type { Subscription } from './subscription.js';

/** A period of an item, or of an allowance, that is n billing periods long. */
export type OwnPeriod = Range & {
  /** What a full charge is for (docs/domain.md 13.4). */
  readonly full: Range;
  readonly pauses: readonly Range[];
};

/** The rows of grid periods that are numbered alike after division by n, trials left out. */
function rowsOfOwnPeriod(
  subscription: Subscription,
  row: LedgerRow,
  periods: number,
): readonly LedgerRow[] {
  const belongs = (other: LedgerRow | null): other is LedgerRow =>
    other !== null &&
    other.kind !== 'trial' &&
    Math.floor(other.number / periods) === Math.floor(row.number / periods);
  const rows = [row];
  for (let index = row.index - 1; index >= 0; index -= 1) {
    const before = rowAt(subscription, index);
    if (!belongs(before)) break;
    rows.unshift(before);
  }
  for (let index = row.index + 1; ; index += 1) {
    const after = rowAt(subscription, index);
    if (!belongs(after)) break;
    rows.push(after);
  }
  return rows;
}

/**
 * The grid period of its own length, counted from the anchor of its first row; of a short first
 * billed period under `none` only what is left of it (docs/domain.md 13.4).
 */
function fullPeriodOf(subscription: Subscription, first: LedgerRow, periods: number): Range {
  const grid = gridOf(subscription, first.anchor, subscription.length);
  const from = Math.floor(first.number / periods) * periods - first.anchorNumber;
  const start = boundaryOf(grid, from);
  const isFirst = first.start === firstBilledStart(subscription);
  const isWholeInItself = isFirst && subscription.proration === 'none';
  return { start: isWholeInItself ? first.start : start, end: boundaryOf(grid, from + periods) };
}

/** The own period of n billing periods to which a row belongs (docs/domain.md 13.3). */
export function ownPeriodOf(
  subscription: Subscription,
  row: LedgerRow,
  periods: number,
): OwnPeriod {
  const rows = rowsOfOwnPeriod(subscription, row, periods);
  return {
    ...spanOf(rows),
    full: fullPeriodOf(subscription, rows[0] ?? row, periods),
    pauses: rows.flatMap(({ pauses }) => pauses),
  };
}
