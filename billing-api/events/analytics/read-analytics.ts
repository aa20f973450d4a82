import { COUNT_EVENTS } from '../../../contract/aggregation.js';
import { ZERO, type Decimal } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { WindowSize } from '../../domain/calendar/usage-windows.js';
import { costOfUsage } from '../../domain/invoice/cost-of-usage.js';
import { splitByGrouping } from '../../domain/invoice/split-usage.js';
import {
  NO_SPLIT,
  type Figures,
  type UsagePart,
  type UsageSplit,
  type WindowFigures,
} from '../../domain/usage/aggregation-spec.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { subjectOf } from '../../usage/store/usage-question.js';
import { findAnalyticsLines, type AnalyticsLine, type AnalyticsLines } from './analytics-lines.js';
import type { Caller } from '../../records/caller.js';
import { readGroups } from '../../usage/usage-grouping.js';
import { filtersOfPrice } from '../../subscriptions/lines/line-items.js';
import { MemberReader } from '../../records/member-rules.js';
import {
  readPropertyFilters,
  scopeOf,
  type PropertyFilters,
} from '../../usage/read-meter-usage.js';
import { readUsage, type UsageQuery } from '../../usage/read-usage.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { readRange, type RangeRequest } from '../../records/time-range.js';
import { tooManyRows } from '../../usage/usage-answer.js';
import { usageOfCustomers, type UsageReadDependencies } from '../../usage/usage-customers.js';
import { cutsOf } from '../../usage/usage-range.js';

const RANGE_DAYS = 7;

export type AnalyticsExpandable =
  'price' | 'meter' | 'feature' | 'subscription_line_item' | 'plan' | 'addon';

export type AnalyticsRequest = RangeRequest & {
  readonly external_customer_id: string;
  readonly feature_ids?: readonly string[] | undefined;
  readonly sources?: readonly string[] | undefined;
  readonly group_by?: readonly string[] | undefined;
  readonly window_size?: WindowSize | undefined;
  readonly property_filters?: PropertyFilters | undefined;
  readonly include_children?: boolean | undefined;
  readonly breakdown_bucket?: boolean | undefined;
  readonly expand?: readonly AnalyticsExpandable[] | undefined;
};

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
  /** At the line's price; null where no price is known for this part of its usage. */
  readonly cost: Decimal | null;
  readonly points: readonly WindowFigures[];
};
export type Analytics = Omit<AnalyticsLines, 'lines'> & {
  readonly items: readonly AnalyticsItem[];
  /** Of all items; null when they have several. */
  readonly currency: string | null;
  /** Σ costs; null when one is unknown or the currencies differ. */
  readonly cost: Decimal | null;
  readonly windowSize: WindowSize | null;
  readonly expand: ReadonlySet<AnalyticsExpandable>;
  readonly dataUntil: InstantMs | null;
};

type Question = {
  readonly range: { readonly startMs: InstantMs; readonly endMs: InstantMs };
  readonly split: UsageSplit;
  readonly narrowedBy: readonly MeterFilter[];
  readonly sources: readonly string[] | null;
  readonly windowSize: WindowSize | null;
};

function readQuestion(request: AnalyticsRequest, now: InstantMs): Question | Refusal {
  const reader = new MemberReader();
  // The groups are those of an item anyway: one for each line, whose meter has one feature.
  const { hasSource, properties } = readGroups(reader, request.group_by ?? []);
  reader.later(request, ['include_children', 'breakdown_bucket']);
  const { sources = [] } = request;
  const question = {
    range: readRange(reader, request, { now, days: RANGE_DAYS }),
    split: { source: hasSource, group: false, properties },
    narrowedBy: readPropertyFilters(reader, 'property_filters', request.property_filters),
    sources: sources.length === 0 ? null : sources,
    windowSize: request.window_size ?? null,
  };
  return reader.refusal() ?? question;
}

type LineAsk = { readonly usage: UsageQuery; readonly sources: UsageQuery };

/** What to read of a line: its parts, their windows, and which sources there are. */
function askOf(line: AnalyticsLine, meter: EffectiveMeter, question: Question): LineAsk | Refusal {
  const { range, subscription, lineItem } = line;
  const { split, narrowedBy, sources, windowSize } = question;
  const { aggregation, bucketSize } = meter;
  const grid = {
    range,
    timezone: subscription.customer_timezone,
    anchorMs: subscription.billing_anchor,
  };
  const cuts = cutsOf(grid, { type: aggregation.type, windowSize, bucketSize });
  if (isRefusal(cuts)) return cuts;
  const subject = subjectOf(meter);
  const common = { narrowedBy: [...filtersOfPrice(lineItem), ...narrowedBy], sources };
  const views = [NO_SPLIT, split].map((one) => ({ windows: null, split: one }));
  const { windows } = cuts;
  const ofSources = { windows: null, split: { ...NO_SPLIT, source: true } };
  return {
    usage: {
      ...common,
      subject,
      scope: scopeOf(meter, range, cuts.buckets),
      views: windows === null ? views : [...views, { windows, split }],
    },
    sources: {
      ...common,
      subject: { ...subject, aggregation: COUNT_EVENTS },
      scope: scopeOf({ aggregation: COUNT_EVENTS, resetUsage: 'BILLING_PERIOD' }, range, null),
      views: [ofSources],
    },
  };
}

function figuresOf(part: UsagePart | undefined): Figures {
  return part?.windows[0] ?? { value: ZERO, eventCount: 0, unreadableCount: 0 };
}

const keyOf = ({ source, texts }: UsagePart): string => JSON.stringify([source, texts]);

/**
 * Costs of the parts of a line: its cost at its price, split by usage as on an invoice (domain.md
 * 13.6). A narrowed analysis has none: a price knows nothing of a part of its usage.
 */
function costsOf(
  line: AnalyticsLine,
  {
    whole,
    parts,
    hasBuckets,
  }: { whole: Figures; parts: readonly UsagePart[]; hasBuckets: boolean },
): ReadonlyMap<string, Decimal> | null {
  const { price } = line.lineItem;
  const cost = costOfUsage(price, { quantity: whole.value, hasBuckets });
  if (cost === null) return null;
  const shares = parts.map((part) => {
    const { value, eventCount } = figuresOf(part);
    return { usage: value, eventCount, groupedBy: { key: keyOf(part) } };
  });
  const rows = splitByGrouping(cost, shares, price.currency);
  return new Map(rows.map((row) => [row.groupedBy['key'] ?? '', row.cost]));
}

type Answered = {
  readonly meter: EffectiveMeter;
  readonly question: Question;
  /** Views of the usage, and of the sources. */
  readonly usage: readonly (readonly UsagePart[])[];
  readonly sources: readonly UsagePart[];
};

function itemsOf(line: AnalyticsLine, answered: Answered): readonly AnalyticsItem[] {
  const { meter, question, usage } = answered;
  const { split } = question;
  const [whole = [], parts = [], points = []] = usage;
  const isNarrowed = question.narrowedBy.length > 0 || question.sources !== null;
  const hasBuckets = meter.bucketSize !== null;
  const costs = isNarrowed
    ? null
    : costsOf(line, { whole: figuresOf(whole[0]), parts, hasBuckets });
  const sources = answered.sources.map(({ source }) => source);
  const pointsOf = new Map(points.map((part) => [keyOf(part), part.windows]));
  return parts.map((part) => ({
    line,
    meter,
    source: split.source ? part.source : null,
    sources: split.source ? [part.source] : sources,
    properties:
      split.properties.length === 0
        ? null
        : Object.fromEntries(split.properties.map((key, at) => [key, part.texts[at] ?? ''])),
    total: figuresOf(part),
    cost: costs === null ? null : (costs.get(keyOf(part)) ?? ZERO),
    points: pointsOf.get(keyOf(part)) ?? [],
  }));
}

/** The sum of all costs; null when one is unknown. */
function sumOf(items: readonly AnalyticsItem[]): Decimal | null {
  let sum: Decimal = ZERO;
  for (const { cost } of items) {
    if (cost === null) return null;
    sum = sum.plus(cost);
  }
  return sum;
}

/** POST /events/analytics (api.md 10.4). */
export async function readAnalytics(
  dependencies: UsageReadDependencies,
  caller: Caller,
  request: AnalyticsRequest,
): Promise<Analytics | Refusal> {
  const question = readQuestion(request, dependencies.clock.now());
  if (isRefusal(question)) return question;
  const found = await findAnalyticsLines(dependencies, caller, {
    externalId: request.external_customer_id,
    range: question.range,
    featureIds: request.feature_ids ?? [],
  });
  if (isRefusal(found)) return found;
  // Before anything is counted, so that it holds for every count.
  const dataUntil = await dependencies.dataUntil();
  const items = await readItems(dependencies, caller, { ...found, question });
  if (isRefusal(items)) return items;
  const { customer, metering, surroundings } = found;
  const currencies = new Set(items.map(({ line }) => line.lineItem.price.currency));
  const [currency = null] = currencies;
  return {
    customer,
    metering,
    surroundings,
    items,
    currency: currencies.size > 1 ? null : currency,
    cost: currencies.size > 1 ? null : sumOf(items),
    windowSize: question.windowSize,
    expand: new Set(request.expand ?? []),
    dataUntil,
  };
}

/** Reads all lines in one round trip. */
async function readItems(
  dependencies: UsageReadDependencies,
  caller: Caller,
  wish: AnalyticsLines & { readonly question: Question },
): Promise<readonly AnalyticsItem[] | Refusal> {
  const { customer, lines, metering, question } = wish;
  const asks: UsageQuery[] = [];
  const meters: EffectiveMeter[] = [];
  for (const line of lines) {
    const meter = assertPresent(metering.readings.get(line.row.meter_id ?? ''), 'the line meter');
    const ask = askOf(line, meter, question);
    if (isRefusal(ask)) return ask;
    asks.push(ask.usage, ask.sources);
    meters.push(meter);
  }
  const whose = { environment: caller.environment, customers: usageOfCustomers([customer]) };
  const answers = await readUsage(dependencies.usage, whose, asks);
  if (answers === null) return tooManyRows({ buckets: null });
  return lines.flatMap((line, index) =>
    itemsOf(line, {
      meter: assertPresent(meters[index], 'the line meter'),
      question,
      usage: answers[2 * index] ?? [],
      sources: answers[2 * index + 1]?.[0] ?? [],
    }),
  );
}
