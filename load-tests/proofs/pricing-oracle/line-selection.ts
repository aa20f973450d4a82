import type { Range } from '../usage-oracle/windows.js';
import type { BillingPeriod } from './billing-grid.js';
import { periodsUntil, type OwnPeriod } from './billing-periods.js';
import type { InvoiceQuestion } from './invoice-question.js';
import type { FixedItem, LineItem, OnetimeItem, Subscription, UsageItem } from './subscription.js';

/** The billing period of an invoice, and the one for which advance charges are due. */
export type InvoicePeriods = {
  readonly period: Range;
  /** Null after the last period. */
  readonly advance: Range | null;
};

/** An item to bill, with the part of its own period in which it exists. */
export type ChosenLine<Item extends LineItem = LineItem> = {
  readonly item: Item;
  readonly covered: Range;
  readonly full: Range;
};

const LONGEST_MS: Readonly<Record<BillingPeriod, number>> = {
  DAILY: 2 * 86_400_000,
  WEEKLY: 8 * 86_400_000,
  MONTHLY: 32 * 86_400_000,
  QUARTERLY: 93 * 86_400_000,
  HALF_YEARLY: 185 * 86_400_000,
  ANNUAL: 367 * 86_400_000,
};

/** The invoice's own period, and the next one unless the subscription has ended. */
export function invoicePeriodsOf(
  subscription: Subscription,
  { rowIndex, reference }: InvoiceQuestion,
): InvoicePeriods {
  const { start, length } = subscription;
  const until = start + (rowIndex + 3) * length.count * LONGEST_MS[length.period];
  const periods = periodsUntil(subscription, length, until);
  const period = periods[rowIndex];
  if (period === undefined) throw new Error('the subscription does not reach that period');
  return {
    period,
    advance: reference === 'period_start' ? period : (periods[rowIndex + 1] ?? null),
  };
}

function isInvoiced(item: LineItem, covered: Range, { earlier }: InvoiceQuestion): boolean {
  const lines = earlier.flatMap(({ lines: all }) => all).filter(({ itemId }) => itemId === item.id);
  if (item.type === 'ONETIME') return lines.length > 0;
  return lines.some(({ start, end }) => start < covered.end && end > covered.start);
}

function isIn({ start, end }: Range, instant: number): boolean {
  return instant >= start && instant < end;
}

/** Whether the item's own period is due (docs/domain.md 13.3). */
function isDue(
  item: FixedItem | UsageItem,
  { own, covered }: { readonly own: OwnPeriod; readonly covered: Range },
  asked: { readonly periods: InvoicePeriods; readonly question: InvoiceQuestion },
): boolean {
  const { period, advance } = asked.periods;
  const isOpening = asked.question.reference === 'period_start';
  if (item.type === 'FIXED' && item.cadence === 'ADVANCE') {
    if (advance !== null && isIn(advance, own.start)) return true;
    // The part of a period in which the item was added waits for the next invoice (27).
    return !isOpening && covered.start > own.start && isIn(period, covered.start);
  }
  return !isOpening && own.end > period.start && own.end <= period.end;
}

function chosenPeriodsOf(
  subscription: Subscription,
  item: FixedItem | UsageItem,
  asked: { readonly periods: InvoicePeriods; readonly question: InvoiceQuestion },
): readonly ChosenLine[] {
  const until = (asked.periods.advance ?? asked.periods.period).end;
  return periodsUntil(subscription, item.length, until).flatMap((own) => {
    const covered = {
      start: Math.max(own.start, item.start),
      end: Math.min(own.end, item.end ?? own.end),
    };
    if (covered.start >= covered.end) return [];
    const isChosen =
      isDue(item, { own, covered }, asked) && !isInvoiced(item, covered, asked.question);
    return isChosen ? [{ item, covered, full: own.full }] : [];
  });
}

/** Once, as soon as an advance period reaches it, or at the very end (docs/domain.md 13.3). */
function chosenOnetime(
  item: OnetimeItem,
  asked: { readonly periods: InvoicePeriods; readonly question: InvoiceQuestion },
): readonly ChosenLine[] {
  const { advance } = asked.periods;
  const at = { start: item.start, end: item.start };
  const isReached = advance === null || advance.end > item.start;
  return isReached && !isInvoiced(item, at, asked.question)
    ? [{ item, covered: at, full: at }]
    : [];
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
    .flatMap((item) =>
      item.type === 'ONETIME'
        ? chosenOnetime(item, asked)
        : chosenPeriodsOf(subscription, item, asked),
    );
}
