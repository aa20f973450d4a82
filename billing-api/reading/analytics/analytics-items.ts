import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import type { WindowSize } from '../../domain/calendar/usage-windows.js';
import { sumOfMoney, zeroMoney, type Money } from '../../domain/money/money.js';
import { costOfUsage } from '../../domain/rating/cost-of-usage.js';
import { splitByGrouping } from '../../domain/invoice/split-usage.js';
import type { Figures, UsagePart, WindowFigures } from '../../domain/usage/aggregation-spec.js';
import { partsOf, type UsageAnswers } from '../../usage/read-usage.js';
import type { AnalyticsLines } from './analytics-lines.js';
import type { AnalyticsExpandable, AnalyticsQuery } from './analytics-query.js';
import type { AnalyticsSlicing, LineQueries } from './analytics-usage.js';
import type { InvoicedCharge, InvoicedCharges } from './invoiced-charges.js';
import type { AnalyticsLine } from './line-in-range.js';

/** A line, or one part of it when the analysis splits by source or properties. */
export type AnalyticsItem = {
  readonly line: AnalyticsLine;
  readonly meter: EffectiveMeter;
  /** Null unless the analysis splits by source. */
  readonly source: string | null;
  readonly sources: readonly string[];
  /** Property key to text; null unless the analysis splits by properties. */
  readonly properties: Readonly<Record<string, string>> | null;
  readonly total: Figures;
  /**
   * As invoices charge it, else at the line's price; null where no price is known for this part of
   * its usage.
   */
  readonly cost: Money | null;
  /** What invoices charge for the line; null where it is priced by itself. */
  readonly invoiced: InvoicedCharge | null;
  readonly points: readonly WindowFigures[];
};
export type Analytics = Omit<AnalyticsLines, 'lines' | 'query' | 'usageOf' | 'ledgers' | 'now'> & {
  readonly items: readonly AnalyticsItem[];
  /** Of all items; null when they have several. */
  readonly currency: string | null;
  /** Σ costs; null when one is unknown or the currencies differ. */
  readonly cost: Money | null;
  /** What invoices charge for the lines; null where each is priced by itself. */
  readonly invoiced: InvoicedCharges | null;
  /** With the time buckets of every point. */
  readonly isBrokenDown: boolean;
  readonly windowSize: WindowSize | null;
  readonly expand: ReadonlySet<AnalyticsExpandable>;
  readonly dataUntil: InstantMs | null;
};

function figuresOf(part: UsagePart | undefined): Figures {
  return assertPresent(part?.windows[0], 'the usage of a part of a line');
}

const keyOf = ({ source, texts }: UsagePart): string => JSON.stringify([source, texts]);

/**
 * The costs of the parts of a line: its cost at its price, split by usage as on an invoice
 * (docs/domain.md 13.6). Null where the price gives no cost of its usage as a whole.
 */
function costsOf(
  line: AnalyticsLine,
  {
    whole,
    parts,
    hasBuckets,
  }: { whole: Figures; parts: readonly UsagePart[]; hasBuckets: boolean },
): ReadonlyMap<string, Money> | null {
  const { price } = line.lineItem;
  const cost = costOfUsage(price, { quantity: whole.value, hasBuckets });
  if (cost === null) return null;
  const shares = parts.map((part) => {
    const { value, eventCount } = figuresOf(part);
    return { usage: value, eventCount, groupedBy: { key: keyOf(part) } };
  });
  const rows = splitByGrouping(cost, shares);
  // Without usage there is nothing to split.
  if (rows.length === 0)
    return new Map(parts.map((part) => [keyOf(part), zeroMoney(price.currency)]));
  return new Map(
    rows.map(({ groupedBy, cost: own }) => [assertPresent(groupedBy['key'], 'a key'), own]),
  );
}

/** What invoices charge for a line; one that is on none of them costs nothing. */
function invoicedOf({ row }: AnalyticsLine, { byLine }: InvoicedCharges): InvoicedCharge {
  const none = zeroMoney(row.currency);
  const nothing = { subtotal: none, discount: none, commitment: null, windows: null };
  return byLine.get(row.id) ?? nothing;
}

/** The answers to the queries of one line. */
type AnsweredLine = {
  readonly queries: LineQueries;
  readonly query: AnalyticsQuery;
  readonly answers: UsageAnswers<AnalyticsSlicing>;
  readonly invoiced: InvoicedCharges | null;
};

/** The items of one line: the line itself, or its parts. */
export function itemsOf({
  queries,
  query,
  answers,
  invoiced,
}: AnsweredLine): readonly AnalyticsItem[] {
  const { line, meter } = queries;
  const { split } = query;
  const usage = mustGet(answers, queries.usage, 'the usage of a line');
  const parts = partsOf(queries.usage, usage, 'parts');
  const isNarrowed = query.narrowedBy.length > 0 || query.sources !== null;
  const isPricedOverPeriod = line.lineItem.meter?.isPricedOverPeriod === true;
  const hasBuckets = meter.bucketSize !== null && !isPricedOverPeriod;
  const whole = figuresOf(partsOf(queries.usage, usage, 'whole')[0]);
  const charge = invoiced === null ? null : invoicedOf(line, invoiced);
  const costs = isNarrowed || charge !== null ? null : costsOf(line, { whole, parts, hasBuckets });
  const bySource = mustGet(answers, queries.sources, 'the sources of a line');
  const sources = partsOf(queries.sources, bySource, 'sources').map(({ source }) => source);
  const points = partsOf(queries.usage, usage, 'points');
  const pointsOf = new Map(points.map((part) => [keyOf(part), part.windows]));
  return parts.map((part) => ({
    line,
    meter,
    source: split.source ? part.source : null,
    sources: split.source ? [part.source] : sources,
    properties:
      split.properties.length === 0 ? null : Object.fromEntries(zip(split.properties, part.texts)),
    total: figuresOf(part),
    cost:
      costs === null
        ? (charge?.subtotal ?? null)
        : mustGet(costs, keyOf(part), 'the cost of a part of a line'),
    invoiced: charge,
    // Absent means none: nothing of the part lies in a window, or nobody asked for windows.
    points: pointsOf.get(keyOf(part)) ?? [],
  }));
}

/** The sum of the discounts of items of one currency. */
export function sumOfDiscounts(items: readonly AnalyticsItem[], currency: string): Money {
  const discounts = items.flatMap(({ invoiced }) => (invoiced === null ? [] : invoiced.discount));
  return sumOfMoney(discounts, currency);
}

/** The sum of the costs of items of one currency; null when one is unknown. */
export function sumOfCosts(items: readonly AnalyticsItem[], currency: string): Money | null {
  const costs = items.flatMap(({ cost }) => (cost === null ? [] : [cost]));
  return costs.length < items.length ? null : sumOfMoney(costs, currency);
}
