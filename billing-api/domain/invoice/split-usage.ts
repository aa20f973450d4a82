import { compareTexts } from '../../../contract/compare-texts.js';
import { Decimal, ZERO } from '../../../contract/decimal.js';
import { allocateByWeight } from '../money.js';
import type { UsageAnalyticsRow, UsageBreakdownRow } from './invoice.js';
import type { GroupedUsage, SourceUsage, UsageShare } from '../usage/line-usage.js';

/** `usage_analytics` of a line (docs/domain.md 13.6): the cost of each source of events. */
export function splitBySource(
  amount: Decimal,
  shares: readonly SourceUsage[],
  currency: string,
): readonly UsageAnalyticsRow[] {
  return splitCost(
    amount,
    sortedShares(shares, (share) => share.source),
    currency,
  );
}

/** `usage_breakdown` of a line (docs/domain.md 13.6): the cost of each combination of groupings. */
export function splitByGrouping(
  amount: Decimal,
  shares: readonly GroupedUsage[],
  currency: string,
): readonly UsageBreakdownRow[] {
  return splitCost(
    amount,
    sortedShares(shares, (share) => groupText(share.groupedBy)),
    currency,
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
function splitCost<Share extends UsageShare>(
  amount: Decimal,
  shares: readonly Share[],
  currency: string,
): readonly (Share & { readonly cost: Decimal; readonly percentage: Decimal })[] {
  const total = shares.reduce((sum, share) => sum.plus(share.usage), ZERO);
  if (total.isZero()) return [];
  const costs = allocateByWeight(amount, shares, { weightOf: ({ usage }) => usage, currency });
  return costs.map(([share, cost]) => ({
    ...share,
    cost,
    percentage: percentageOf(share.usage, total),
  }));
}

function percentageOf(part: Decimal, total: Decimal): Decimal {
  return part.times(100).dividedBy(total).toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
}
