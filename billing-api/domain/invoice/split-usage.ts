import { compareTexts } from '../../../contract/compare-texts.js';
import { Decimal, ZERO } from '../../../contract/number/decimal.js';
import { allocateByWeight } from '../money/allocate.js';
import type { Money } from '../money/money.js';
import type { UsageAnalyticsRow, UsageBreakdownRow } from './invoice.js';
import type { GroupedUsage, SourceUsage, UsageShare } from '../usage/line-usage.js';

/** `usage_analytics` of a line (docs/domain.md 13.6): the cost of each source of events. */
export function splitBySource<C extends string>(
  amount: Money<C>,
  shares: readonly SourceUsage[],
): readonly UsageAnalyticsRow<C>[] {
  return splitCost(
    amount,
    sortedShares(shares, (share) => share.source),
  );
}

/** `usage_breakdown` of a line (docs/domain.md 13.6): the cost of each combination of groupings. */
export function splitByGrouping<C extends string>(
  amount: Money<C>,
  shares: readonly GroupedUsage[],
): readonly UsageBreakdownRow<C>[] {
  return splitCost(
    amount,
    sortedShares(shares, (share) => groupText(share.groupedBy)),
  );
}

/** A text that identifies a group, whatever the order of its members. */
function groupText(groupedBy: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(groupedBy).sort(([a], [b]) => compareTexts(a, b)));
}

/** Greatest usage first, then by text: the order in which remaining minor units are given. */
function sortedShares<Share extends UsageShare>(
  shares: readonly Share[],
  textOf: (share: Share) => string,
): readonly Share[] {
  return [...shares].sort(
    (a, b) => b.usage.comparedTo(a.usage) || compareTexts(textOf(a), textOf(b)),
  );
}

/** Rows whose costs add up to the amount; none without usage. */
function splitCost<Share extends UsageShare, C extends string>(
  amount: Money<C>,
  shares: readonly Share[],
): readonly (Share & { readonly cost: Money<C>; readonly percentage: Decimal })[] {
  const total = shares.reduce((sum, share) => sum.plus(share.usage), ZERO);
  if (total.isZero()) return [];
  const costs = allocateByWeight(amount, shares, ({ usage }) => usage);
  return costs.map(([share, cost]) => ({
    ...share,
    cost,
    percentage: percentageOf(share.usage, total),
  }));
}

function percentageOf(part: Decimal, total: Decimal): Decimal {
  return part.times(100).dividedBy(total).toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
}
