import { withoutDuplicates } from '../usage-oracle/counted-events.js';
import type { Fraction } from '../usage-oracle/fraction.js';
import {
  everythingOf,
  nothingOf,
  remainingOf,
  remainingOfLifetime,
  type AllowedLine,
  type Remaining,
} from './allowance.js';
import { anchorOf } from './billing-periods.js';
import { allowanceOf, type Allowance } from './entitlement.js';
import { subtract, sum } from './exact.js';
import type { ChosenLine } from './line-selection.js';
import { eventsOf, quantityIn, type Measured } from './measured-usage.js';
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

export function measuredOf(subscription: Subscription, item: UsageItem): Measured {
  const { meters, events, zone } = subscription;
  const meter = meters.get(item.meterId);
  if (meter === undefined) throw new Error(`no meter ${item.meterId}`);
  const division =
    meter.bucketSize === null
      ? null
      : { size: meter.bucketSize, zone, anchor: anchorOf(subscription) };
  return { meter, division, events: eventsOf(meter, item.filterValues, withoutDuplicates(events)) };
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
  return remainingOf(lines, { limit, resetWindows });
}

/**
 * Each bucket's remainder is priced by itself, else the whole remainder (docs/domain.md 8.5, 10.2).
 */
export function usageMoney({ item }: ChosenLine<UsageItem>, remaining: Remaining): Fraction {
  if (remaining.buckets === null) return chargeFor(item.price, remaining.billed);
  const values = remaining.buckets.flatMap(({ groups }) => groups);
  return sum(values.map(({ value }) => chargeFor(item.price, value)));
}

/** Lines of one meter over one usage window share an allowance (docs/domain.md 9.3). */
function chargesSharing(
  subscription: Subscription,
  lines: readonly ChosenLine<UsageItem>[],
): readonly UsageCharge[] {
  const [first] = lines;
  if (first === undefined) return [];
  const { meterId } = first.item;
  const allowance = allowanceOf(subscription.features, { meterId, end: first.covered.end });
  const allowed = lines.map(({ item, covered }) => ({
    measured: measuredOf(subscription, item),
    window: covered,
  }));
  const remaining = remainingUnder(subscription, allowed, allowance);
  return lines.flatMap((line, index) => {
    const [own, left] = [allowed[index], remaining[index]];
    if (own === undefined || left === undefined) return [];
    const quantity = quantityIn(own.measured, own.window);
    const adjusted = allowance === null ? null : subtract(quantity, left.billed);
    return [{ line, quantity, remaining: left, adjusted, money: usageMoney(line, left) }];
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
