import type { MeterAggregation } from '../../../contract/aggregation.js';
import type { Environment } from '../../../contract/environment.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import type { UsageSplit } from '../../domain/usage/aggregation-spec.js';
import type { EffectiveMeter } from '../../catalog/meters/effective-meters.js';
import type { EventCorrection } from '../../domain/usage/event-correction.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';

/** Which events count, and how: a meter in force, or an ad-hoc rule of one request. */
export type UsageSubject = {
  readonly eventName: string;
  readonly filters: readonly MeterFilter[];
  readonly aggregation: MeterAggregation;
  /** Where the minutes of a meter are; null for an ad-hoc rule, which is read from events only. */
  readonly minutes: {
    readonly meterId: string;
    /** The sets of rows to add up; none while the meter is being applied to stored events. */
    readonly generations: readonly number[];
  } | null;
  /** Of an archived meter: the only partitions that it counts, and how far; else null. */
  readonly ends: readonly PartitionEnd[] | null;
  /** Of its events: those in force. Minutes do not know them. */
  readonly corrections: readonly EventCorrection[];
};

/** A meter as it is in force. */
export function subjectOf(meter: EffectiveMeter): UsageSubject {
  const { eventName, filters, aggregation, meterId, generations, ends, corrections } = meter;
  const minutes = { meterId, generations };
  return { eventName, filters, aggregation, minutes, ends, corrections };
}

/** Keys of a customer whose events count in these times only. */
export type KeySpans = { readonly keys: readonly string[]; readonly spans: readonly Interval[] };

/** These keys (customerKeysOf), some of them perhaps in a part of the time only. */
export type NamedCustomers = {
  readonly kind: 'only';
  readonly keys: readonly string[];
  /** For some of the keys; absent where all events of all keys count. */
  readonly limited?: readonly KeySpans[];
};

/** Customers whose usage is read: these keys, or all but these. */
export type UsageCustomers =
  NamedCustomers | { readonly kind: 'all-but'; readonly keys: readonly string[] };

/** One query to the usage tables: what a window holds of a subject, by slot. */
export type CellQuery = {
  readonly customers: UsageCustomers;
  readonly subject: UsageSubject;
  readonly window: Interval;
  /** Added to the subject's own filters. Minutes do not hold properties, so events are read. */
  readonly narrowedBy: readonly MeterFilter[];
  /** Sources that count; null for all. */
  readonly sources: readonly string[] | null;
  /** Ascending starts of the slots of the answer, the first not after the window; null for one. */
  readonly slots: readonly InstantMs[] | null;
  readonly split: UsageSplit;
  /** COUNT_UNIQUE: whether a text counts in the first of its slots only. */
  readonly isFirstSlotOnly: boolean;
};

/** Which of the events that are there count (docs/domain.md 13.1). */
export type UsageBound = {
  /** Events that are read themselves count below these ends only. Minutes know no ends. */
  readonly ends: readonly PartitionEnd[];
  /** From this minute on a query reads events instead of minutes; a query without it does not. */
  readonly eventsFrom: ReadonlyMap<CellQuery, InstantMs>;
};

/** Queries that are answered together, of one customer or of many. */
export type CellQueryBatch = {
  readonly environment: Environment;
  readonly queries: readonly CellQuery[];
  /** Null for all that is there. */
  readonly bound: UsageBound | null;
  /** Whether rows tell whose usage they hold; only where `tellsCustomers` allows it. */
  readonly withCustomerKeys?: boolean;
};

/** No answer tells the usage of more customers apart. */
export const CUSTOMER_KEYS_MAX = 100_000;

/** No answer holds more cells. */
export const CELLS_MAX = 1_000_000;
