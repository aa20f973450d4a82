import { customerOf, matches, withoutDuplicates } from './counted-events.js';
import { add, toText, zero, type Fraction } from './fraction.js';
import { WINDOW_SIZES, type OracleFilter, type OracleMeter, type WindowSize } from './meter.js';
import { propertyOf, type OracleCustomer, type OracleEvent } from './usage-event.js';
import { valueOfWindow } from './window-value.js';
import { bucketAt, windowsOf, type Range } from './windows.js';

/** Everything that an environment knows. */
export type World = {
  /** Every accepted event in the order of acceptance, duplicates included. */
  readonly accepted: readonly OracleEvent[];
  readonly customers: readonly OracleCustomer[];
};

export type UsageQuestion = {
  readonly meter: OracleMeter;
  /** Null: all customers together. */
  readonly customerId: string | null;
  /** Added to those of the meter. */
  readonly filters: readonly OracleFilter[];
  readonly range: Range;
  readonly zone: string;
  readonly anchor: number | null;
  readonly windowSize: WindowSize | null;
  /** `source` or `properties.<name>`; empty: results are not divided. */
  readonly groupBy: readonly string[];
};

export type UsageResult = {
  readonly start: number;
  readonly end: number;
  /** Texts of the grouping names, null when results are not divided. */
  readonly group: Readonly<Record<string, string>> | null;
  readonly value: string;
};

/** `results` is empty when neither window_size nor group_by asks for them. */
export type UsageAnswer = { readonly value: string; readonly results: readonly UsageResult[] };

/** The events that a question counts, whenever they happened. */
export function countedEvents(world: World, question: UsageQuestion): readonly OracleEvent[] {
  const { meter, customerId, filters } = question;
  return withoutDuplicates(world.accepted).filter((event) => {
    const customer = customerOf(event, world.customers);
    if (customer === null) return false;
    if (customerId !== null && customer.id !== customerId) return false;
    return matches({ ...meter, filters: [...meter.filters, ...filters] }, event);
  });
}

function divideBy(
  events: readonly OracleEvent[],
  keyOf: (event: OracleEvent) => string,
): ReadonlyMap<string, readonly OracleEvent[]> {
  const divided = new Map<string, OracleEvent[]>();
  for (const event of events) {
    const key = keyOf(event);
    divided.set(key, [...(divided.get(key) ?? []), event]);
  }
  return divided;
}

/** Σ value_b over buckets, and over the texts of the meter's group_by (docs/domain.md 7.8). */
function bucketedValue(
  question: UsageQuestion,
  { events, size }: { readonly events: readonly OracleEvent[]; readonly size: WindowSize },
): Fraction {
  const { meter, range, zone, anchor } = question;
  const division = { size, zone, anchor };
  const inside = events.filter(
    ({ timestamp }) => timestamp >= range.start && timestamp < range.end,
  );
  const buckets = divideBy(inside, (event) => {
    const group = meter.groupBy === null ? '' : (propertyOf(event, meter.groupBy) ?? '');
    return JSON.stringify([bucketAt(division, event.timestamp), group]);
  });
  return [...buckets.values()]
    .map((bucket) => valueOfWindow(meter, bucket, range))
    .reduce(add, zero);
}

/** The billable quantity of `question.range` from the events given. */
function quantityOf(question: UsageQuestion, events: readonly OracleEvent[]): Fraction {
  const size = question.meter.bucketSize;
  return size === null
    ? valueOfWindow(question.meter, events, question.range)
    : bucketedValue(question, { events, size });
}

function groupTextOf(event: OracleEvent, name: string): string {
  if (name === 'source') return event.source;
  return propertyOf(event, name.slice('properties.'.length)) ?? '';
}

type Group = {
  readonly name: Readonly<Record<string, string>> | null;
  readonly events: readonly OracleEvent[];
};

/** What results are divided by: what is asked for, else what divides the buckets of the meter. */
function groupingOf({ groupBy, meter }: UsageQuestion): readonly string[] {
  if (groupBy.length > 0 || meter.groupBy === null) return groupBy;
  return [`properties.${meter.groupBy}`];
}

/** In the order of their texts, compared as UTF-16. */
function groupsOf(question: UsageQuestion, events: readonly OracleEvent[]): readonly Group[] {
  const groupBy = groupingOf(question);
  if (groupBy.length === 0) return [{ name: null, events }];
  const divided = divideBy(events, (event) =>
    JSON.stringify(groupBy.map((name) => groupTextOf(event, name))),
  );
  return [...divided]
    .map(([key, members]) => ({ texts: JSON.parse(key) as string[], events: members }))
    .sort((left, right) => (left.texts.join('\0') < right.texts.join('\0') ? -1 : 1))
    .map(({ texts, events: members }) => ({
      name: Object.fromEntries(groupBy.map((name, index) => [name, texts[index] ?? ''])),
      events: members,
    }));
}

/** A bucket is shown whole: results are not finer than the buckets of the meter. */
function resultSize({ windowSize, meter }: UsageQuestion): WindowSize | null {
  if (windowSize === null || meter.bucketSize === null) return windowSize;
  const ranks = [windowSize, meter.bucketSize].map((size) => WINDOW_SIZES.indexOf(size));
  return WINDOW_SIZES[Math.max(...ranks)] ?? null;
}

/**
 * What the results of a question are told apart by: windows of `windowSize`, or the whole range,
 * cut to the range. A window that the clock divides counts the events of all its parts.
 */
function resultsOf(
  question: UsageQuestion,
  events: readonly OracleEvent[],
): readonly UsageResult[] {
  const { zone, anchor, range } = question;
  const size = resultSize(question);
  const windows =
    size === null ? [{ identity: '', parts: [range] }] : windowsOf({ size, zone, anchor }, range);
  return windows.flatMap(({ parts }) => {
    const span = { start: parts[0]?.start ?? range.start, end: parts.at(-1)?.end ?? range.end };
    const isOfWindow = ({ timestamp }: OracleEvent): boolean =>
      timestamp < span.start ||
      parts.some(({ start, end }) => timestamp >= start && timestamp < end);
    const known = events.filter(isOfWindow);
    return groupsOf(question, known)
      .filter(({ name, events: members }) => name === null || hasNews(members, span))
      .map(({ name, events: members }) => ({
        ...span,
        group: name,
        value: toText(quantityOf({ ...question, range: span }, members)),
      }));
  });
}

/** A group is listed in the windows in which it has events. */
function hasNews(events: readonly OracleEvent[], { start, end }: Range): boolean {
  return events.some(({ timestamp }) => timestamp >= start && timestamp < end);
}

/** The answer to a usage question, from the design pages alone. */
export function answerUsage(world: World, question: UsageQuestion): UsageAnswer {
  const events = countedEvents(world, question);
  const wantsResults = question.windowSize !== null || groupingOf(question).length > 0;
  return {
    value: toText(quantityOf(question, events)),
    results: wantsResults ? resultsOf(question, events) : [],
  };
}
