import type { AggregationType } from './aggregation.js';
import { Decimal, maxOf, ZERO } from './decimal.js';
import type { EventValue, ValueRule } from './event-value.js';
import type { InstantMs } from './instant.js';

/**
 * Where an event stands in the order of LATEST: timestamp, receipt, then id (docs/domain.md 7.5).
 */
export type EventPlace = {
  readonly atMs: InstantMs;
  readonly receivedMs: InstantMs;
  readonly eventId: string;
};
export type Latest = EventPlace & { readonly value: Decimal };

/**
 * What a minute holds of one meter, customer, source and group, so that any longer window is read
 * from minutes. Filled only as far as the meter's type needs; mutable, since an event costs one
 * addition.
 */
export type UsageCell = {
  eventCount: number;
  /** Events whose value was taken as 0 (EventValue.isUnreadable). */
  unreadableCount: number;
  /** Σ value, for SUM, SUM_WITH_MULTIPLIER, AVG and WEIGHTED_SUM. */
  valueSum: Decimal;
  /** Σ value × milliseconds from the start of the minute, for WEIGHTED_SUM. */
  valueTimeSum: Decimal;
  /** Greatest value, for MAX; values are not below 0, so 0 says nothing. */
  valueMax: Decimal;
  latest: Latest | null;
  /** Hashes of the texts, for COUNT_UNIQUE. */
  readonly uniques: Set<string>;
};

/** Events with the same value texts; the live stream has tallies of one. */
export type EventTally = {
  readonly texts: readonly (string | null)[];
  readonly count: number;
  /** Σ milliseconds from the start of the minute to the event. */
  readonly timeSumMs: number | bigint;
  /** The greatest place among them. */
  readonly place: EventPlace;
};

/** Of every cell whose type tells no texts apart: a set of its own would double what it costs. */
const NO_UNIQUES: Set<string> = new Set<string>();

/** A cell without events; given a type it may only be filled by rules of that type. */
export function createUsageCell(type: AggregationType = 'COUNT_UNIQUE'): UsageCell {
  return {
    eventCount: 0,
    unreadableCount: 0,
    valueSum: ZERO,
    valueTimeSum: ZERO,
    valueMax: ZERO,
    latest: null,
    uniques: type === 'COUNT_UNIQUE' ? new Set() : NO_UNIQUES,
  };
}

/**
 * Compares texts by code points, which is the order of their UTF-8 bytes and so ClickHouse's. The
 * language compares UTF-16 units, which differs once a text leaves the basic plane.
 */
function compareByCodePoints(left: string, right: string): number {
  const [one, other] = [left[Symbol.iterator](), right[Symbol.iterator]()];
  for (;;) {
    const [a, b] = [one.next(), other.next()];
    if (a.done === true || b.done === true)
      return Number(a.done !== true) - Number(b.done !== true);
    const difference = (a.value.codePointAt(0) ?? 0) - (b.value.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
}

/** Whether the left event is the later one: by timestamp, then receipt, then id. */
export function isLater(left: EventPlace, right: EventPlace): boolean {
  const difference = left.atMs - right.atMs || left.receivedMs - right.receivedMs;
  return (difference || compareByCodePoints(left.eventId, right.eventId)) > 0;
}

function addLatest(cell: UsageCell, place: EventPlace, value: Decimal): void {
  if (cell.latest !== null && !isLater(place, cell.latest)) return;
  const { atMs, receivedMs, eventId } = place;
  cell.latest = { atMs, receivedMs, eventId, value };
}

function addValue(cell: UsageCell, rule: ValueRule, of: EventValue & EventTally): void {
  const { value, count } = of;
  switch (rule.type) {
    case 'COUNT':
    case 'COUNT_UNIQUE':
      return;
    case 'SUM':
    case 'SUM_WITH_MULTIPLIER':
    case 'AVG':
      cell.valueSum = cell.valueSum.plus(count === 1 ? value : value.times(count));
      return;
    case 'WEIGHTED_SUM':
      cell.valueSum = cell.valueSum.plus(value.times(count));
      cell.valueTimeSum = cell.valueTimeSum.plus(value.times(new Decimal(String(of.timeSumMs))));
      return;
    case 'MAX':
      cell.valueMax = maxOf(cell.valueMax, value);
      return;
    case 'LATEST':
      addLatest(cell, of.place, value);
  }
}

/** Adds events of one text combination to a cell. The order of tallies changes nothing. */
export function addTally(cell: UsageCell, rule: ValueRule, tally: EventTally): void {
  cell.eventCount += tally.count;
  if (rule.type === 'COUNT') return;
  const read = rule.valueOf(tally.texts);
  if (read.isUnreadable) cell.unreadableCount += tally.count;
  if (read.unique !== null) cell.uniques.add(read.unique);
  addValue(cell, rule, { ...tally, ...read });
}
