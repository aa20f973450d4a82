import { numberOf } from './expression/evaluate.js';
import { cutDigits, isNegative, multiply, zero, type Fraction } from './fraction.js';
import type { OracleMeter } from './meter.js';
import { isInRange, readNumber } from './numeric-text.js';
import { propertyOf, type OracleEvent } from './usage-event.js';

/** The number of one event, and whether it could be read; an unreadable one is 0. */
export type EventValue = { readonly value: Fraction; readonly isReadable: boolean };

const unreadable: EventValue = { value: zero, isReadable: false };

function readOrigin(meter: OracleMeter, event: OracleEvent): Fraction | null {
  const { origin } = meter;
  switch (origin.kind) {
    case 'none':
      return null;
    case 'field': {
      const text = propertyOf(event, origin.name);
      return text === null ? null : readNumber(text);
    }
    case 'expression':
      return numberOf(origin.expression, (name) => propertyOf(event, name));
  }
}

/**
 * The value of one event for a meter whose type adds, averages or compares numbers (docs/domain.md
 * 7.5): read exactly, multiplied, cut to 18 digits; a negative one is 0 except for WEIGHTED_SUM.
 */
export function valueOfEvent(meter: OracleMeter, event: OracleEvent): EventValue {
  const read = readOrigin(meter, event);
  if (read === null) return unreadable;
  const value = cutDigits(meter.multiplier === null ? read : multiply(read, meter.multiplier));
  if (!isInRange(value)) return unreadable;
  const isTakenAsZero = isNegative(value) && meter.type !== 'WEIGHTED_SUM';
  return { value: isTakenAsZero ? zero : value, isReadable: true };
}
