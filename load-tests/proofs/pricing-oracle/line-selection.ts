import type { Range } from '../usage-oracle/windows.js';
import { timesLonger } from './billing-grid.js';
import type { EarlierInvoice, InvoiceQuestion } from './invoice-question.js';
import { ownPeriodOf, type OwnPeriod } from './own-periods.js';
import { rowAt, spanOf, unsplitRows, type LedgerRow } from './period-ledger.js';
import type { FixedItem, LineItem, OnetimeItem, Subscription, UsageItem } from './subscription.js';

/** The row of the ledger that an invoice is for, and the one for which advance charges are due. */
export type InvoicePeriods = {
  readonly row: LedgerRow;
  /** As if no threshold invoice had split the row's period. */
  readonly unsplit: Range;
  /** Null where the subscription does not exist any more, or nothing is charged in advance. */
  readonly advance: LedgerRow | null;
};

/** An item to bill, with the part of its own period in which it exists. */
export type ChosenLine<Item extends LineItem = LineItem> = {
  readonly item: Item;
  readonly covered: Range;
  readonly full: Range;
  /** Those of its own period. */
  readonly pauses: readonly Range[];
};

type Asked = { readonly periods: InvoicePeriods; readonly question: InvoiceQuestion };

function advanceOf(
  subscription: Subscription,
  row: LedgerRow,
  { reference }: InvoiceQuestion,
): LedgerRow | null {
  switch (reference) {
    case 'trial_start':
    case 'threshold':
      return null;
    case 'period_start':
      return row;
    case 'period_end':
    case 'preview':
      return rowAt(subscription, row.index + 1);
  }
}

export function invoicePeriodsOf(
  subscription: Subscription,
  question: InvoiceQuestion,
): InvoicePeriods {
  const row = rowAt(subscription, question.rowIndex);
  if (row === null) throw new Error('the subscription does not reach that period');
  return {
    row,
    unsplit: spanOf(unsplitRows(subscription, row)),
    advance: advanceOf(subscription, row, question),
  };
}

/** Whether an invoice has lines of a period that has ended; none has any of a trial. */
export function billsEndedPeriod({ row }: InvoicePeriods, { reference }: InvoiceQuestion): boolean {
  return row.kind !== 'trial' && reference !== 'period_start' && reference !== 'trial_start';
}

function isInvoiced(item: LineItem, covered: Range, { earlier }: InvoiceQuestion): boolean {
  const lines = earlier.flatMap(({ lines: all }) => all).filter(({ itemId }) => itemId === item.id);
  if (item.type === 'ONETIME') return lines.length > 0;
  return lines.some(({ start, end }) => start < covered.end && end > covered.start);
}

function isIn({ start, end }: Range, instant: number): boolean {
  return instant >= start && instant < end;
}

/** Billing periods of the subscription in one of the item. */
function periodsOf({ length }: Subscription, item: FixedItem | UsageItem): number {
  const periods = timesLonger(item.length, length);
  if (periods === null) throw new Error('an item that does not fit the billing period');
  return periods;
}

/** Where the item exists in its own period; null when it does not. */
function coveredOf(item: LineItem, own: Range): Range | null {
  const start = Math.max(own.start, item.start);
  const end = Math.min(own.end, item.end ?? own.end);
  return start < end ? { start, end } : null;
}

/** Due in advance, or added to a period that has ended while it ran (docs/domain.md 13.3, 27). */
function isAdvanceDue(
  { own, covered, item }: { own: OwnPeriod; covered: Range; item: LineItem },
  { periods, question }: Asked,
): boolean {
  const { advance, unsplit } = periods;
  if (advance !== null && isIn(advance, covered.start)) return true;
  const wasAdded = item.start > own.start || (item.isLate === true && item.start === own.start);
  return wasAdded && isIn(unsplit, covered.start) && billsEndedPeriod(periods, question);
}

function isArrearDue(own: OwnPeriod, { periods, question }: Asked): boolean {
  const { start, end } = periods.unsplit;
  return billsEndedPeriod(periods, question) && own.end > start && own.end <= end;
}

/** The invoices of earlier parts of a period that threshold invoices split (30.1). */
export function earlierParts(
  { row, unsplit }: InvoicePeriods,
  { earlier }: InvoiceQuestion,
): readonly EarlierInvoice[] {
  return earlier.filter(({ period }) => period.start >= unsplit.start && period.end <= row.start);
}

/** The own periods that the invoice's rows belong to, each once, in order. */
function ownPeriodsNear(
  subscription: Subscription,
  item: FixedItem | UsageItem,
  { row, advance }: InvoicePeriods,
): readonly OwnPeriod[] {
  const rows = [...unsplitRows(subscription, row), ...(advance === null ? [] : [advance])];
  const owns = rows
    .filter(({ kind }) => kind !== 'trial')
    .map((each) => ownPeriodOf(subscription, each, periodsOf(subscription, item)));
  return owns.filter(({ start }, index) => start !== owns[index - 1]?.start);
}

/**
 * The usage of the period up to the end of the row that the invoice is for (docs/domain.md 13.3,
 * 30.1).
 */
function chosenUsageOfRow(item: UsageItem, asked: Asked): readonly ChosenLine[] {
  const { row, unsplit } = asked.periods;
  const covered = coveredOf(item, { start: unsplit.start, end: row.end });
  if (covered === null || !billsEndedPeriod(asked.periods, asked.question)) return [];
  // An earlier part has the item up to its own end, which is before this row.
  if (isInvoiced(item, { start: row.start, end: row.end }, asked.question)) return [];
  return [{ item, covered, full: row.grid, pauses: row.pauses }];
}

function chosenPeriodsOf(
  subscription: Subscription,
  item: FixedItem | UsageItem,
  asked: Asked,
): readonly ChosenLine[] {
  const isAdvance = item.type === 'FIXED' && item.cadence === 'ADVANCE';
  return ownPeriodsNear(subscription, item, asked.periods).flatMap((own) => {
    const covered = coveredOf(item, own);
    if (covered === null) return [];
    const isDue = isAdvance ? isAdvanceDue({ own, covered, item }, asked) : isArrearDue(own, asked);
    if (!isDue || isInvoiced(item, covered, asked.question)) return [];
    return [{ item, covered, full: own.full, pauses: own.pauses }];
  });
}

/** Once, as soon as an advance period reaches it, or at the very end (docs/domain.md 13.3). */
function chosenOnetime(item: OnetimeItem, { periods, question }: Asked): readonly ChosenLine[] {
  const { advance } = periods;
  const at = { start: item.start, end: item.start };
  const isReached =
    advance === null ? billsEndedPeriod(periods, question) : advance.end > item.start;
  return isReached && !isInvoiced(item, at, question)
    ? [{ item, covered: at, full: at, pauses: [] }]
    : [];
}

function chosenOf(subscription: Subscription, item: LineItem, asked: Asked): readonly ChosenLine[] {
  const isUsageOfRow = item.type === 'USAGE' && periodsOf(subscription, item) === 1;
  if (isUsageOfRow) return chosenUsageOfRow(item, asked);
  // A threshold invoice has nothing but the usage of the part that it closes.
  if (asked.question.reference === 'threshold') return [];
  return item.type === 'ONETIME'
    ? chosenOnetime(item, asked)
    : chosenPeriodsOf(subscription, item, asked);
}

function byLineOrder(left: LineItem, right: LineItem): number {
  return left.createdAt - right.createdAt || (left.id < right.id ? -1 : 1);
}

/** What an invoice bills, in line order, the periods of an item in time order. */
export function chosenLines(
  subscription: Subscription,
  question: InvoiceQuestion,
): readonly ChosenLine[] {
  const asked = { periods: invoicePeriodsOf(subscription, question), question };
  return subscription.items
    .toSorted(byLineOrder)
    .flatMap((item) => chosenOf(subscription, item, asked));
}
