import type { AggregationType, MeterAggregation } from '../../../contract/aggregation.js';
import type { Environment } from '../../../contract/environment.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import type { UsageSplit } from '../../domain/usage/aggregation-spec.js';
import type { MeterEnd, EffectiveMeter } from '../../catalog/meters/effective-meters.js';

/** Whose events count, and as what: a meter in force, or a rule made up for one query. */
export type UsageSubject = {
  readonly eventName: string;
  readonly filters: readonly MeterFilter[];
  readonly aggregation: MeterAggregation;
  /** Where the minutes of a meter are; null for a made-up rule, which only events can answer. */
  readonly minutes: {
    readonly meterId: string;
    /** The sets of rows to add up; none while the meter is being applied to stored events. */
    readonly generations: readonly number[];
  } | null;
  /** Of an archived meter: the only partitions that it counts, and how far; else null. */
  readonly ends: readonly MeterEnd[] | null;
};

/** A meter as it is in force. */
export function subjectOf(meter: EffectiveMeter): UsageSubject {
  const { eventName, filters, aggregation, meterId, generations, ends } = meter;
  return { eventName, filters, aggregation, minutes: { meterId, generations }, ends };
}

/** One query: what a window holds of a subject, perhaps narrowed by more filters. */
export type CellQuery = {
  readonly subject: UsageSubject;
  readonly window: Interval;
  /** Added to the subject's own filters; the minutes cannot answer them, the events can. */
  readonly narrowedBy: readonly MeterFilter[];
  /** Sources that count; null for all. */
  readonly sources: readonly string[] | null;
  /** Ascending starts of the slots of the answer, the first not after the window; null for one. */
  readonly slots: readonly InstantMs[] | null;
  readonly split: UsageSplit;
  /** COUNT_UNIQUE: whether a text counts in the first of its slots only. */
  readonly isFirstSlotOnly: boolean;
};

/** Whose usage: these keys (customerKeysOf), or everybody's but these. */
export type UsageCustomers =
  | { readonly kind: 'only'; readonly keys: readonly string[] }
  | { readonly kind: 'all-but'; readonly keys: readonly string[] };

export type CellQueryBatch = {
  readonly environment: Environment;
  readonly customers: UsageCustomers;
  readonly queries: readonly CellQuery[];
};

/** No answer holds more cells. */
export const CELLS_MAX = 1_000_000;

/** Which sums of the minutes an aggregation is made of. */
export type MinuteSums = {
  readonly unreadable: boolean;
  readonly valueSum: boolean;
  readonly valueTimeSum: boolean;
  readonly valueMax: boolean;
  readonly latest: boolean;
};

export function minuteSumsOf(type: AggregationType): MinuteSums {
  const isOneOf = (...types: readonly AggregationType[]): boolean => types.includes(type);
  return {
    unreadable: type !== 'COUNT',
    valueSum: isOneOf('SUM', 'SUM_WITH_MULTIPLIER', 'AVG', 'WEIGHTED_SUM'),
    valueTimeSum: isOneOf('WEIGHTED_SUM'),
    valueMax: isOneOf('MAX'),
    latest: isOneOf('LATEST'),
  };
}

/** The columns of sums where nobody asked for them. */
export const NOTHING: Readonly<Record<keyof MinuteSums, string>> = {
  unreadable: `CAST([], 'Array(UInt64)')`,
  valueSum: `CAST([], 'Array(String)')`,
  valueTimeSum: `CAST([], 'Array(String)')`,
  valueMax: `CAST([], 'Array(String)')`,
  latest: `CAST([], 'Array(Array(String))')`,
};
