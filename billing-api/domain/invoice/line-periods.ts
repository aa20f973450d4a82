import type { InstantMs, Interval } from '../../../contract/instant.js';
import { overlapOf } from '../calendar/interval.js';
import { ownPeriodAt, type OwnPeriod } from '../periods/own-periods.js';
import type { InvoiceScope } from './invoice-scope.js';
import { lineBillingOf } from './line-billing.js';
import type { LineItem } from './line-item.js';

function isIn(interval: Interval, instant: InstantMs): boolean {
  return interval.startMs <= instant && instant < interval.endMs;
}

function stepsOf({ price }: LineItem, { terms }: InvoiceScope): number {
  return lineBillingOf(price, terms).steps;
}

/** The part of an own period inside an interval. */
function cutOwn(own: OwnPeriod, interval: Interval): OwnPeriod | null {
  const part = overlapOf(own, interval);
  return part === null ? null : { ...own, ...part };
}

/**
 * The period that is billed in arrear: that which ended, or the line's own longer period if it ends
 * at the same time (docs/domain.md 13.3). `ended` is null when nothing is billed in arrear.
 */
export function arrearPeriod(
  lineItem: LineItem,
  scope: InvoiceScope,
  ended: Interval | null,
): OwnPeriod | null {
  if (ended === null) return null;
  const steps = stepsOf(lineItem, scope);
  const own = ownPeriodAt(scope.terms, steps, ended.endMs - 1);
  if (own === null) return null;
  if (steps === 1) return { ...own, ...ended };
  return own.endMs === ended.endMs ? own : null;
}

/**
 * The periods that are charged in advance: the one in which the item was added, if that ends with
 * the invoice's (docs/domain.md 27), and the one that begins next. An own period begins where the
 * item does, when the item was added inside it.
 */
export function advancePeriods(lineItem: LineItem, scope: InvoiceScope): readonly OwnPeriod[] {
  const added = addedPeriod(lineItem, scope);
  const next = nextOwnPeriod(lineItem, scope);
  return [added, next].filter((period) => period !== null);
}

function nextOwnPeriod(lineItem: LineItem, scope: InvoiceScope): OwnPeriod | null {
  const { advance, terms } = scope;
  if (advance === null) return null;
  const own = ownPeriodAt(terms, stepsOf(lineItem, scope), advance.startMs);
  if (own === null) return null;
  const left = uncut(own, lineItem);
  // One that begins where it ends has the time that its end has left it.
  const endMs = left.endMs > own.endMs ? left.endMs : advance.endMs;
  const startMs = Math.max(own.startMs, lineItem.startMs);
  return isIn({ startMs: advance.startMs, endMs }, startMs) ? left : null;
}

/** The last period of an item as it is charged in advance: its end may leave that as it was. */
function uncut(own: OwnPeriod, { endMs, chargedUntilMs = own.endMs }: LineItem): OwnPeriod {
  return own.endMs === endMs ? { ...own, endMs: chargedUntilMs } : own;
}

/**
 * The own period to which the item was added while it ran, at its start or inside it; null if not
 * in the period of the invoice.
 */
function addedPeriod(lineItem: LineItem, scope: InvoiceScope): OwnPeriod | null {
  const { arrear, terms } = scope;
  const { startMs, isLate = false, isSettled = false } = lineItem;
  if (arrear === null || !isIn(arrear, startMs) || isSettled) return null;
  const steps = stepsOf(lineItem, scope);
  const own = ownPeriodAt(terms, steps, startMs);
  if (own === null || (startMs === own.startMs && !isLate)) return null;
  return steps === 1 ? cutOwn(own, arrear) : own;
}
