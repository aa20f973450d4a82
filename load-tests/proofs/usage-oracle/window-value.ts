import { valueOfEvent } from './event-value.js';
import {
  add,
  compare,
  divide,
  fraction,
  isNegative,
  multiply,
  roundDigits,
  zero,
} from './fraction.js';
import type { Fraction } from './fraction.js';
import type { AggregationType, OracleMeter } from './meter.js';
import { propertyOf, type OracleEvent } from './usage-event.js';
import type { Range } from './windows.js';

function isInside({ start, end }: Range, { timestamp }: OracleEvent): boolean {
  return timestamp >= start && timestamp < end;
}

function sum(values: readonly Fraction[]): Fraction {
  return values.reduce(add, zero);
}

/** Greatest timestamp; ties: later receipt, then greater event id. */
function isLater(left: OracleEvent, right: OracleEvent): boolean {
  if (left.timestamp !== right.timestamp) return left.timestamp > right.timestamp;
  if (left.receipt !== right.receipt) return left.receipt > right.receipt;
  return left.eventId > right.eventId;
}

function latest(meter: OracleMeter, events: readonly OracleEvent[]): Fraction {
  const [first, ...others] = events;
  if (first === undefined) return zero;
  const last = others.reduce((best, next) => (isLater(next, best) ? next : best), first);
  return valueOfEvent(meter, last).value;
}

function average(values: readonly Fraction[]): Fraction {
  if (values.length === 0) return zero;
  return roundDigits(divide(sum(values), fraction(BigInt(values.length))));
}

function greatest(values: readonly Fraction[]): Fraction {
  return values.reduce((best, next) => (compare(next, best) > 0 ? next : best), zero);
}

/** Of the events whose value can be read; 0 when there is none. */
function least(meter: OracleMeter, events: readonly OracleEvent[]): Fraction {
  const readable = events
    .map((event) => valueOfEvent(meter, event))
    .filter(({ isReadable }) => isReadable)
    .map(({ value }) => value);
  const [first, ...others] = readable;
  if (first === undefined) return zero;
  return others.reduce((best, next) => (compare(next, best) < 0 ? next : best), first);
}

function differentTexts(meter: OracleMeter, events: readonly OracleEvent[]): Fraction {
  const { origin } = meter;
  if (origin.kind !== 'field') return zero;
  const texts = events.map((event) => propertyOf(event, origin.name));
  return fraction(BigInt(new Set(texts.filter((text) => text !== null)).size));
}

/** Σ value × time from the event to the window end ÷ length of the window, plus `level`. */
function weightedSum(
  meter: OracleMeter,
  inside: readonly OracleEvent[],
  { window, level }: { readonly window: Range; readonly level: Fraction },
): Fraction {
  const length = BigInt(window.end - window.start);
  const weighted = inside.map((event) => {
    const rest = fraction(BigInt(window.end - event.timestamp), length);
    return multiply(valueOfEvent(meter, event).value, rest);
  });
  const result = roundDigits(add(level, sum(weighted)));
  return isNegative(result) ? zero : result;
}

/** The value of events, of every type that does not ask for the window. */
function valueOfEvents(
  type: Exclude<AggregationType, 'WEIGHTED_SUM'>,
  meter: OracleMeter,
  events: readonly OracleEvent[],
): Fraction {
  const values = (): readonly Fraction[] => events.map((event) => valueOfEvent(meter, event).value);
  switch (type) {
    case 'COUNT':
      return fraction(BigInt(events.length));
    case 'SUM':
    case 'SUM_WITH_MULTIPLIER':
      return sum(values());
    case 'AVG':
      return average(values());
    case 'MAX':
      return greatest(values());
    case 'MIN':
      return least(meter, events);
    case 'LATEST':
      return latest(meter, events);
    case 'COUNT_UNIQUE':
      return differentTexts(meter, events);
  }
}

/**
 * The value of one window of events that all match (docs/domain.md 7.5 and 7.6), as if there were
 * no buckets. A NEVER meter adds the history before the window.
 */
export function valueOfWindow(
  meter: OracleMeter,
  matching: readonly OracleEvent[],
  window: Range,
): Fraction {
  const untilEnd = matching.filter((event) => event.timestamp < window.end);
  const inside = untilEnd.filter((event) => isInside(window, event));
  const relevant = meter.reset === 'NEVER' ? untilEnd : inside;
  const { type } = meter;
  if (type !== 'WEIGHTED_SUM') return valueOfEvents(type, meter, relevant);
  const before = relevant.filter((event) => event.timestamp < window.start);
  const level = sum(before.map((event) => valueOfEvent(meter, event).value));
  return weightedSum(meter, inside, { window, level });
}
