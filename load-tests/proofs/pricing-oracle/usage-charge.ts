import { withoutDuplicates } from '../usage-oracle/counted-events.js';
import type { Fraction } from '../usage-oracle/fraction.js';
import type { OracleMeter } from '../usage-oracle/meter.js';
import type { OracleEvent } from '../usage-oracle/usage-event.js';
import {
  everythingOf,
  nothingOf,
  remainingOf,
  remainingOfLifetime,
  type AllowedLine,
  type Remaining,
} from './allowance.js';
import { allowanceOf, type Allowance } from './entitlement.js';
import { subtract, sum } from './exact.js';
import type { ChosenLine } from './line-selection.js';
import { eventsOf, quantityIn, type Measured } from './measured-usage.js';
import { anchorAt, rowsBefore } from './period-ledger.js';
import { chargeFor } from './price.js';
import { resetWindowsOf } from './reset-windows.js';
import type { Subscription, UsageItem } from './subscription.js';

/** A usage line before commitments and rounding. */
export type UsageCharge = {
  readonly line: ChosenLine<UsageItem>;
  /** What was used, before the allowance. */
  readonly quantity: Fraction;
  readonly remaining: Remaining;
  /** What the allowance took away; null without one. */
  readonly adjusted: Fraction | null;
  readonly money: Fraction;
};

/** `anchor` is that of the row in which the usage window starts (docs/domain.md 7.8). */
export function measuredOf(subscription: Subscription, item: UsageItem, anchor: number): Measured {
  const { meters, events, zone } = subscription;
  const meter = meters.get(item.meterId);
  if (meter === undefined) throw new Error(`no meter ${item.meterId}`);
  const division = meter.bucketSize === null ? null : { size: meter.bucketSize, zone, anchor };
  return { meter, division, events: eventsOf(meter, item.filterValues, withoutDuplicates(events)) };
}

type SharingLines = readonly ChosenLine<UsageItem>[];

/**
 * Usage that earlier items of the meter billed and that the lines themselves do not count: it has
 * used up the allowance, too (docs/domain.md 10.2).
 */
function billedByEarlierItems(
  subscription: Subscription,
  lines: SharingLines,
  { meter }: Measured,
): readonly OracleEvent[] {
  const [first] = lines;
  if (first === undefined || meter.reset === 'NEVER') return [];
  const { meterId } = first.item;
  const distinct = withoutDuplicates(subscription.events);
  const countedByLines = new Set(
    lines.flatMap(({ item }) => eventsOf(meter, item.filterValues, distinct)),
  );
  const earlier = subscription.items.flatMap((item) => {
    if (item.type !== 'USAGE' || item.meterId !== meterId) return [];
    const { start, end, filterValues } = item;
    if (end === null || end > first.covered.start) return [];
    return eventsOf(meter, filterValues, distinct).filter(
      ({ timestamp }) => timestamp >= start && timestamp < end,
    );
  });
  return [...new Set(earlier)].filter((event) => !countedByLines.has(event));
}

/** The lines as their allowance sees them: what is counted once is on the first of them. */
function allowedLines(subscription: Subscription, lines: SharingLines): readonly AllowedLine[] {
  return lines.map(({ item, covered }, index) => {
    const measured = measuredOf(subscription, item, anchorAt(subscription, covered.start));
    if (index > 0) return { measured, window: covered };
    const events = [...measured.events, ...billedByEarlierItems(subscription, lines, measured)];
    return { measured: { ...measured, events }, window: covered };
  });
}

function remainingUnder(
  subscription: Subscription,
  lines: readonly AllowedLine[],
  allowance: Allowance | null,
): readonly Remaining[] {
  const [first] = lines;
  if (first === undefined) return [];
  if (allowance === null) return lines.map(everythingOf);
  const { limit, reset } = allowance;
  if (limit === null) return lines.map(nothingOf);
  if (first.measured.meter.reset === 'NEVER') return remainingOfLifetime(lines, limit);
  const resetWindows = resetWindowsOf(subscription, reset, first.window);
  const rowStarts = rowsBefore(subscription, first.window.end).map(({ start }) => start);
  return remainingOf(lines, { limit, resetWindows, rowStarts });
}

/**
 * Each bucket's remainder is priced by itself, else the whole remainder (docs/domain.md 8.5, 10.2).
 */
export function usageMoney(
  { item }: ChosenLine<UsageItem>,
  remaining: Remaining,
  { pricesPeriod = false }: OracleMeter,
): Fraction {
  if (remaining.buckets === null || pricesPeriod) return chargeFor(item.price, remaining.billed);
  const values = remaining.buckets.flatMap(({ groups }) => groups);
  return sum(values.map(({ value }) => chargeFor(item.price, value)));
}

/**
 * Lines of one meter over one usage window share an allowance. Those that count the same events
 * take it once, together: an event is free or billed on all of them (docs/domain.md 9.3, 10.2).
 */
function chargesSharing(subscription: Subscription, lines: SharingLines): readonly UsageCharge[] {
  const filterOf = ({ item }: ChosenLine<UsageItem>): string => JSON.stringify(item.filterValues);
  const filters = [...new Set(lines.map(filterOf))];
  const one = (filter: string) => lines.find((line) => filterOf(line) === filter);
  const sharing = filters.flatMap((filter) => one(filter) ?? []);
  const [first] = sharing;
  if (first === undefined) return [];
  const { meterId } = first.item;
  const allowance = allowanceOf(subscription.features, { meterId, end: first.covered.end });
  const allowed = allowedLines(subscription, sharing);
  const remaining = remainingUnder(subscription, allowed, allowance);
  return lines.flatMap((line) => {
    const index = filters.indexOf(filterOf(line));
    const [own, left] = [allowed[index], remaining[index]];
    if (own === undefined || left === undefined) return [];
    const quantity = quantityIn(own.measured, own.window);
    const adjusted = allowance === null ? null : subtract(quantity, left.billed);
    const money = usageMoney(line, left, own.measured.meter);
    return [{ line, quantity, remaining: left, adjusted, money }];
  });
}

/** Aggregate, allowance, price: every usage line, in line order (docs/domain.md 13.1). */
export function usageCharges(
  subscription: Subscription,
  lines: readonly ChosenLine<UsageItem>[],
): readonly UsageCharge[] {
  const keyOf = ({ item, covered }: ChosenLine<UsageItem>): string =>
    JSON.stringify([item.meterId, covered.start, covered.end]);
  const keys = new Set(lines.map(keyOf));
  const charges = [...keys].flatMap((key) =>
    chargesSharing(
      subscription,
      lines.filter((line) => keyOf(line) === key),
    ),
  );
  return lines.flatMap((line) => charges.filter((charge) => charge.line === line));
}
