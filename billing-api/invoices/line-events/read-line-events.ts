import type { Decimal } from '../../../contract/decimal.js';
import { ZERO } from '../../../contract/decimal.js';
import { compileValueRule, type ValueRule } from '../../../contract/event-value.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { currentPeriod } from '../../domain/calendar/billing-periods.js';
import { windowAt } from '../../domain/calendar/usage-windows.js';
import type { EventStore, StoredEvent } from '../../events/events-store.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import { findLineItem, type LineItemRow } from '../../subscriptions/subscriptions-store.js';
import { readUnit } from '../../records/unit.js';
import type { Caller } from '../../records/caller.js';
import { computeInvoice, type ComputedInvoice } from '../compute/compute-invoice.js';
import {
  formatEventPageKey,
  readEventPageKey,
  type EventPageKey,
} from '../../events/event-page-key.js';
import { readGroups } from '../../usage/usage-grouping.js';
import { MemberReader } from '../../records/member-rules.js';
import {
  readSubscription,
  type SubscriptionReading,
} from '../../subscriptions/read-subscriptions.js';
import { isRefusal, notFound, Refusal } from '../../records/refusal.js';
import { termsFromRow } from '../../subscriptions/create/subscription-request.js';
import { usageOfCustomers, type UsageReadDependencies } from '../../usage/usage-customers.js';

export type LineEventsRequest = {
  readonly id: string;
  readonly period_start?: string | undefined;
  readonly period_end?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
};

/** An event behind a line, with what it adds to the quantity. */
export type LineEvent = {
  readonly event: StoredEvent;
  readonly value: Decimal;
  /** Where the window that it counts in begins: its bucket, else the usage window. */
  readonly windowStartMs: InstantMs;
  /** The text by which buckets are cut further; null without `group_by`. */
  readonly group: string | null;
  /** The text that a COUNT_UNIQUE counts; null for every other meter, and without the property. */
  readonly text: string | null;
};

export type LineEventsPage = {
  readonly items: readonly LineEvent[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
  /** Of all pages: what they come to when they are aggregated again. */
  readonly quantity: Decimal;
  readonly eventCount: number;
};

export type LineEventReadDependencies = UsageReadDependencies & { readonly events: EventStore };

type Found = { readonly row: LineItemRow; readonly reading: SubscriptionReading };

async function findLine(
  dependencies: UsageReadDependencies,
  caller: Caller,
  id: string,
): Promise<Found | Refusal> {
  const row = await readUnit(dependencies, caller.environment, ({ tx: transaction }) =>
    findLineItem(transaction, id),
  );
  if (row === null) return notFound('line item', id);
  if (row.price_type !== 'USAGE') {
    return new Refusal('invalid_operation', `no events are behind a ${row.price_type} line`);
  }
  const reading = await readSubscription(dependencies, caller, row.subscription_id);
  return isRefusal(reading) ? reading : { row, reading };
}

type Wish = { readonly period: Interval; readonly behind: EventPageKey | null };

function wishFrom(request: LineEventsRequest, { reading }: Found, now: InstantMs): Wish | Refusal {
  const reader = new MemberReader();
  const current = currentPeriod(termsFromRow(reading.subscription), now);
  const startMs = reader.instant('period_start', request.period_start) ?? current.startMs;
  const endMs = reader.instant('period_end', request.period_end) ?? current.endMs;
  if (endMs <= startMs) reader.note('period_end', 'is not later than period_start');
  const behind = request.cursor === undefined ? null : readEventPageKey(request.cursor);
  if (request.cursor !== undefined && behind === null) {
    reader.note('cursor', 'was never given by an answer');
  }
  return reader.refusal() ?? { period: { startMs, endMs }, behind };
}

type Counted = {
  readonly meter: EffectiveMeter;
  /** The usage window; of a meter that never resets all that led to it. */
  readonly window: Interval;
  /** Start of the window of an event, which must not be asked for an earlier one afterwards. */
  readonly windowStartOf: (instant: InstantMs) => InstantMs;
};

/** Events come in the order of time, so that a window is looked up once. */
function windowStarts(
  meter: EffectiveMeter,
  window: Interval,
  { subscription }: SubscriptionReading,
): Counted['windowStartOf'] {
  const { bucketSize: size } = meter;
  if (size === null) return () => window.startMs;
  const { customer_timezone: timezone, billing_anchor: anchorMs } = subscription;
  let bucket: Interval = { startMs: -Infinity, endMs: -Infinity };
  return (instant) => {
    if (instant >= bucket.endMs) bucket = windowAt(instant, { size, timezone, anchorMs });
    return Math.max(bucket.startMs, window.startMs);
  };
}

/** Texts stand for their hashes: they are shown, not compared. */
function ruleOf(meter: EffectiveMeter): ValueRule {
  return compileValueRule(meter.aggregation, (text) => text);
}

function lineEventsOf(events: readonly StoredEvent[], counted: Counted): readonly LineEvent[] {
  const { meter, windowStartOf } = counted;
  const rule = ruleOf(meter);
  const { groupBy } = meter.aggregation;
  return events.map((event) => {
    const textOf = (key: string): string | null =>
      Object.hasOwn(event.properties, key) ? (event.properties[key] ?? null) : null;
    const { value, unique } = rule.valueOf(rule.properties.map(textOf));
    return {
      event,
      value,
      windowStartMs: windowStartOf(event.timestampMs),
      group: groupBy === null ? null : (textOf(groupBy) ?? ''),
      text: unique,
    };
  });
}

/** Until its backfill is complete a meter shows nothing, not even the events themselves. */
function isShown({ generations }: EffectiveMeter): boolean {
  return generations.length > 0;
}

async function readPage(
  { events }: LineEventReadDependencies,
  caller: Caller,
  page: Counted & {
    readonly computed: ComputedInvoice;
    readonly filterValues: Readonly<Record<string, readonly string[]>>;
    readonly behind: EventPageKey | null;
    readonly limit: number;
  },
): Promise<Pick<LineEventsPage, 'items' | 'nextCursor'>> {
  const { meter, window, computed, filterValues, behind, limit } = page;
  const narrowing = Object.entries(filterValues).map(([key, values]) => ({ key, values }));
  const customers = usageOfCustomers([computed.customer]);
  const question = {
    environment: caller.environment,
    window,
    customerKeys: isShown(meter) ? customers.keys : [],
    eventName: meter.eventName,
    eventId: null,
    source: null,
    filters: [...meter.filters, ...narrowing],
    ends: meter.ends,
  };
  const found = await events.list(question, {
    order: { sort: 'timestamp', direction: 'asc' },
    behind: behind === null ? null : { ...behind, eventName: meter.eventName },
    inFrontOf: null,
    // One more than the page, to tell whether there is one.
    limit: limit + 1,
    offset: 0,
  });
  const last = found.length > limit ? found[limit - 1] : undefined;
  return {
    items: lineEventsOf(found.slice(0, limit), page),
    nextCursor: last === undefined ? null : formatEventPageKey(last),
  };
}

const NO_GROUPING = readGroups(new MemberReader(), []);
const NOTHING: LineEventsPage = { items: [], nextCursor: null, quantity: ZERO, eventCount: 0 };

/** The line as an invoice of the period has it. */
function computeLine(
  dependencies: UsageReadDependencies,
  caller: Caller,
  { row, reading, period, now }: Found & Pick<Wish, 'period'> & { readonly now: InstantMs },
): Promise<ComputedInvoice | Refusal> {
  const lineItems = [row];
  const wish = { reading, period, lineItems, grouping: NO_GROUPING, hideZeroCharges: false, now };
  return computeInvoice(dependencies, caller, wish);
}

/**
 * The events behind a usage line over a period, by timestamp and id: all that the meter and the
 * price of the line let through, so that they aggregate to the quantity of the line.
 */
export async function readLineEvents(
  dependencies: LineEventReadDependencies,
  caller: Caller,
  request: LineEventsRequest,
): Promise<LineEventsPage | Refusal> {
  const now = dependencies.clock.now();
  const found = await findLine(dependencies, caller, request.id);
  if (isRefusal(found)) return found;
  const wish = wishFrom(request, found, now);
  if (isRefusal(wish)) return wish;
  const { period, behind } = wish;
  const computed = await computeLine(dependencies, caller, { ...found, period, now });
  if (isRefusal(computed)) return computed;
  // A commitment of the subscription may add a line without usage.
  const line = computed.invoice.lines.find(({ trace }) => trace.usage !== null);
  const { usage, window } = line?.trace ?? { usage: null, window: null };
  if (usage === null) return NOTHING;
  const meter = assertPresent(computed.metering.readings.get(usage.meterId), 'the line meter');
  const page = await readPage(dependencies, caller, {
    meter,
    window: meter.resetUsage === 'NEVER' ? { ...window, startMs: 0 } : window,
    windowStartOf: windowStarts(meter, window, found.reading),
    computed,
    filterValues: usage.filterValues,
    behind,
    limit: request.limit,
  });
  return { ...page, quantity: usage.raw, eventCount: usage.eventCount };
}
