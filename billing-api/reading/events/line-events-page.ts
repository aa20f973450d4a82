import { AGGREGATIONS } from '../../../contract/aggregation.js';
import type { Decimal } from '../../../contract/number/decimal.js';
import type { Environment } from '../../../contract/environment.js';
import { compileValueRule, type ValueRule } from '../../../contract/event-value.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { correctionsIn } from '../../domain/usage/event-correction.js';
import { windowAt } from '../../domain/calendar/usage-windows.js';
import { formatEventPageKey, type EventPageKey } from '../../events/event-page-key.js';
import type { EventQuery, EventStore, StoredEvent } from '../../events/events-store.js';
import type { LoadedSubscription } from '../../subscriptions/loaded-subscription.js';
import type { NamedCustomers } from '../../usage/store/cell-query.js';

/** An event behind a line, with what it adds to the quantity. */
export type LineEvent = {
  readonly event: StoredEvent;
  /** Null for an event that takes no part, because its value cannot be read. */
  readonly value: Decimal | null;
  /** Where the window that it counts in begins: its bucket, else the usage window. */
  readonly windowStartMs: InstantMs;
  /** The event's text of the property that its meter groups by; null if it groups by none. */
  readonly group: string | null;
  /** The text that a COUNT_UNIQUE counts; null for every other meter, and without the property. */
  readonly text: string | null;
  /** The correction by which the event counts as it does; null for one that counts as sent. */
  readonly correctionId: string | null;
};

export type LineEventsPage = {
  readonly items: readonly LineEvent[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
};

type CountedEvents = {
  readonly meter: EffectiveMeter;
  /** The only partitions whose events count, and how far; null for all. */
  readonly ends: EventQuery['ends'];
  /** The usage window; for a meter that never resets, everything up to its end. */
  readonly window: Interval;
  /** Start of the window that an event counts in; call it with ascending instants only. */
  readonly windowStartOf: (instant: InstantMs) => InstantMs;
};

/** What decides the buckets of a line of a subscription. */
type BucketTerms = Pick<LoadedSubscription['subscription'], 'customer_timezone' | 'billing_anchor'>;

/** Looks each window up once, since events come in the order of time. */
export function windowStarts(
  meter: EffectiveMeter,
  window: Interval,
  { subscription }: { readonly subscription: BucketTerms },
): CountedEvents['windowStartOf'] {
  const { bucketSize: size } = meter;
  if (size === null) return () => window.startMs;
  const { customer_timezone: timezone, billing_anchor: anchorMs } = subscription;
  let bucket: Interval = { startMs: -Infinity, endMs: -Infinity };
  return (instant) => {
    if (instant >= bucket.endMs) bucket = windowAt(instant, { size, timezone, anchorMs });
    return Math.max(bucket.startMs, window.startMs);
  };
}

/** Uses texts instead of their hashes, because they are shown and not compared. */
function ruleOf(meter: EffectiveMeter): ValueRule {
  return compileValueRule(meter.aggregation, (text) => text);
}

function lineEventsOf(
  events: readonly StoredEvent[],
  counted: CountedEvents,
): readonly LineEvent[] {
  const { meter, windowStartOf } = counted;
  const rule = ruleOf(meter);
  const { type, groupBy } = meter.aggregation;
  const { ignoresUnreadable } = AGGREGATIONS[type];
  return events.map((event) => {
    const textOf = (key: string): string | null =>
      Object.hasOwn(event.properties, key) ? (event.properties[key] ?? null) : null;
    const { value, isUnreadable, unique } = rule.valueOf(rule.properties.map(textOf));
    return {
      event,
      value: isUnreadable && ignoresUnreadable ? null : value,
      windowStartMs: windowStartOf(event.timestampMs),
      // Absent means empty: an event without the property is in the group of the empty text.
      group: groupBy === null ? null : (textOf(groupBy) ?? ''),
      text: unique,
      correctionId: meter.corrections.find(({ number }) => number === event.correction)?.id ?? null,
    };
  });
}

/** A meter shows no events before its backfill is complete, as it shows no usage. */
function isShown({ generations }: EffectiveMeter): boolean {
  return generations.length > 0;
}

/** One page of the events of a line, in the order of time. */
export async function readLineEventsPage(
  events: EventStore,
  environment: Environment,
  page: CountedEvents & {
    readonly customers: NamedCustomers;
    readonly filterValues: Readonly<Record<string, readonly string[]>>;
    readonly after: EventPageKey | null;
    readonly limit: number;
  },
): Promise<LineEventsPage> {
  const { meter, window, customers, filterValues, after, limit } = page;
  const narrowing = Object.entries(filterValues).map(([key, values]) => ({ key, values }));
  const query = {
    environment,
    window,
    customerKeys: isShown(meter) ? customers.keys : [],
    ...(customers.limited === undefined ? {} : { limited: customers.limited }),
    eventName: meter.eventName,
    eventId: null,
    source: null,
    filters: [...meter.filters, ...narrowing],
    ends: page.ends,
    // Its events as they count, so that they add up to the quantity of the line.
    corrections: correctionsIn(meter.corrections, window),
  };
  const found = await events.list(query, {
    order: { sort: 'timestamp', direction: 'asc' },
    behind: after === null ? null : { ...after, eventName: meter.eventName },
    inFrontOf: null,
    // One more than the page, which shows whether another page follows.
    limit: limit + 1,
    offset: 0,
  });
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    items: lineEventsOf(found.slice(0, limit), page),
    nextCursor: last === undefined ? null : formatEventPageKey(last),
  };
}
