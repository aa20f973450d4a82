import type { Range } from '../usage-oracle/windows.js';
import { anchorAfterTrial, firstAnchorOf, gridOf } from './billing-anchor.js';
import { gridPeriodAt } from './billing-grid.js';
import { endOf, type HistoryOperation, type Subscription } from './subscription.js';

/** A row of the period ledger (docs/domain.md 12.10). */
export type LedgerRow = Range & {
  readonly index: number;
  /** A trial that ends with the subscription is still a trial: nothing of it is billed. */
  readonly kind: 'trial' | 'threshold' | 'last' | 'regular';
  readonly anchor: number;
  /** The number of the grid period that begins at the anchor. */
  readonly anchorNumber: number;
  /** The number of the grid period of the row. */
  readonly number: number;
  /** Not cut by start, end or pauses. */
  readonly grid: Range;
  /** Those that have ended, in order. */
  readonly pauses: readonly Range[];
};

type Anchor = { readonly at: number; readonly number: number };

/** Rows whose ends are not cut by the end of the subscription yet, and the anchor in force. */
type Book = { readonly rows: readonly LedgerRow[]; readonly anchor: Anchor };

function rowFrom(subscription: Subscription, start: number, { rows, anchor }: Book): LedgerRow {
  const grid = gridOf(subscription, anchor.at, subscription.length);
  const { times, ...period } = gridPeriodAt(grid, start);
  return {
    index: rows.length,
    kind: 'regular',
    start,
    end: period.end,
    anchor: anchor.at,
    anchorNumber: anchor.number,
    number: anchor.number + times,
    grid: period,
    pauses: [],
  };
}

function runningOf({ rows }: Book): LedgerRow {
  const running = rows.at(-1);
  if (running === undefined) throw new Error('a ledger without rows');
  return running;
}

function withoutRunning({ rows }: Book): readonly LedgerRow[] {
  return rows.slice(0, -1);
}

function created(subscription: Subscription): Book {
  const { start, trialEnd } = subscription;
  const empty = { rows: [], anchor: { at: firstAnchorOf(subscription), number: 0 } };
  const first = rowFrom(subscription, start, empty);
  const row: LedgerRow = trialEnd === null ? first : { ...first, kind: 'trial', end: trialEnd };
  return { ...empty, rows: [row] };
}

/** The running row has ended; what begins after a trial has an anchor of its own. */
function renewed(subscription: Subscription, book: Book): Book {
  const { kind, end } = runningOf(book);
  const anchor =
    kind === 'trial' ? { at: anchorAfterTrial(subscription, end), number: 0 } : book.anchor;
  const next = { ...book, anchor };
  return { ...next, rows: [...book.rows, rowFrom(subscription, end, next)] };
}

function split(book: Book, at: number): Book {
  const running = runningOf(book);
  const { index } = running;
  return {
    ...book,
    rows: [
      ...withoutRunning(book),
      { ...running, kind: 'threshold', end: at },
      { ...running, index: index + 1, start: at, pauses: [] },
    ],
  };
}

function paused({ cycle }: Subscription, book: Book, pause: Range): Book {
  const running = runningOf(book);
  const end = running.end + pause.end - pause.start;
  const row = { ...running, end, pauses: [...running.pauses, pause] };
  const anchor = cycle === 'anniversary' ? { at: end, number: row.number + 1 } : book.anchor;
  return { anchor, rows: [...withoutRunning(book), row] };
}

function applied(subscription: Subscription, book: Book, operation: HistoryOperation): Book {
  switch (operation.type) {
    case 'trial_end':
    case 'renewal':
      if (runningOf(book).end !== operation.at) throw new Error('no period ends there');
      return renewed(subscription, book);
    case 'threshold':
      return split(book, operation.at);
    case 'pause':
      return paused(subscription, book, { start: operation.from, end: operation.at });
    case 'cancel':
      // Where the last row ends is cut from all rows alike, for `end_date` and cancellations.
      return book;
  }
}

const books = new WeakMap<Subscription, Book>();

/** What has been recorded, with as many rows behind it as anybody has asked for. */
function bookOf(subscription: Subscription): Book {
  const known = books.get(subscription);
  if (known !== undefined) return known;
  const recorded = subscription.history.reduce<Book>(
    (book, operation) => applied(subscription, book, operation),
    created(subscription),
  );
  books.set(subscription, recorded);
  return recorded;
}

function cutAt(row: LedgerRow, end: number | null): LedgerRow {
  if (end === null || row.end < end) return row;
  return { ...row, end, kind: row.kind === 'trial' ? 'trial' : 'last' };
}

/** The row of an index; null where the subscription does not exist any more. */
export function rowAt(subscription: Subscription, index: number): LedgerRow | null {
  let book = bookOf(subscription);
  const end = endOf(subscription);
  while (book.rows.length <= index) {
    if (end !== null && runningOf(book).end >= end) return null;
    book = renewed(subscription, book);
    books.set(subscription, book);
  }
  const row = book.rows[index];
  if (row === undefined || (end !== null && row.start >= end)) return null;
  return cutAt(row, end);
}

/** Every row that begins before an instant, in order. */
export function rowsBefore(subscription: Subscription, instant: number): readonly LedgerRow[] {
  const rows: LedgerRow[] = [];
  for (let row = rowAt(subscription, 0); row !== null && row.start < instant;) {
    rows.push(row);
    row = rowAt(subscription, row.index + 1);
  }
  return rows;
}

/** The row that runs by the history that is known. */
export function runningRow(subscription: Subscription): LedgerRow {
  const operations = subscription.history.filter(
    ({ type }) => type === 'trial_end' || type === 'renewal' || type === 'threshold',
  );
  const row = rowAt(subscription, operations.length);
  if (row === null) throw new Error('the subscription has ended');
  return row;
}

/** Where billing begins: nothing of a trial is billed. */
export function firstBilledStart({ start, trialEnd }: Subscription): number {
  return trialEnd ?? start;
}

/**
 * The anchor that divides months from an instant on: that of the row which contains it.
 */
export function anchorAt(subscription: Subscription, instant: number): number {
  const row = rowsBefore(subscription, instant + 1).at(-1);
  return row?.anchor ?? firstAnchorOf(subscription);
}

/** The rows that threshold invoices made of one period, the row itself too (12.10). */
export function unsplitRows(subscription: Subscription, row: LedgerRow): readonly LedgerRow[] {
  const rows = [row];
  for (let [first] = rows; first !== undefined && first.index > 0; [first] = rows) {
    const before = rowAt(subscription, first.index - 1);
    if (before?.kind !== 'threshold') break;
    rows.unshift(before);
  }
  for (let last = rows.at(-1); last?.kind === 'threshold'; last = rows.at(-1)) {
    const after = rowAt(subscription, last.index + 1);
    if (after === null) break;
    rows.push(after);
  }
  return rows;
}

/** From the start of the first row to the end of the last. */
export function spanOf(rows: readonly LedgerRow[]): Range {
  const [first, last] = [rows[0], rows.at(-1)];
  if (first === undefined || last === undefined) throw new Error('no rows');
  return { start: first.start, end: last.end };
}
