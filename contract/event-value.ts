import { AGGREGATIONS, type AggregationType, type MeterAggregation } from './aggregation.js';
import { Decimal, decimalOf, ONE, ZERO } from './number/decimal.js';
import { compileExpression, isExpressionProblem } from './expression/compile-expression.js';
import { cutProduct, type ExactNumber } from './expression/exact-number.js';
import { cutToValue, decimalFromNumericText, exactProduct } from './number/numeric-text.js';

/** What one event adds to its meter (docs/domain.md 7.5). */
export type EventValue = {
  readonly value: Decimal;
  /**
   * The value is given as 0 because the property is missing, is not a number or is out of range, or
   * because the expression failed. Such events are counted apart, so that a zero is never silent.
   */
  readonly isUnreadable: boolean;
  /** For COUNT_UNIQUE: the hash of the text; null for every other type. */
  readonly unique: string | null;
};

/** First 128 bits of a cryptographic hash of a text, as 32 lower-case hexadecimal digits. */
export type HashText = (text: string) => string;

type Texts = readonly (string | null)[];

export type ValueRule = {
  readonly type: AggregationType;
  /** Properties whose texts decide the value, in order. */
  readonly properties: readonly string[];
  /** What an expression costs an event at most, in microseconds; 0 without an expression. */
  readonly cost: number;
  /** The value of such texts, null standing for a property that is missing. */
  readonly valueOf: (texts: Texts) => EventValue;
};

const UNREADABLE: EventValue = { value: ZERO, isUnreadable: true, unique: null };
const ONE_EVENT: EventValue = { value: ONE, isUnreadable: false, unique: null };
const NOTHING: EventValue = { value: ZERO, isUnreadable: false, unique: null };

type NumberRule = {
  readonly properties: readonly string[];
  readonly cost: number;
  readonly numberOf: (texts: Texts) => ExactNumber | null;
};

function fieldRule(field: string): NumberRule {
  return {
    properties: [field],
    cost: 0,
    numberOf: ([text]) => (typeof text === 'string' ? decimalFromNumericText(text) : null),
  };
}

function expressionRule(expression: string): NumberRule {
  const compiled = compileExpression(expression);
  if (isExpressionProblem(compiled))
    throw new TypeError(`a meter's expression ${compiled.problem}`);
  const { properties, cost, evaluate } = compiled;
  const positions = new Map(properties.map((property, index) => [property, index]));
  return {
    properties,
    cost,
    numberOf: (texts) => evaluate((property) => texts[positions.get(property) ?? -1] ?? null),
  };
}

/** A fraction comes back cut already: it may have no end in decimal digits. */
function multiplied(number: ExactNumber, factor: Decimal | null): Decimal {
  if (!(number instanceof Decimal)) return cutProduct(number, factor ?? ONE);
  return factor === null ? number : exactProduct(number, factor);
}

/** Multiplied first and cut once. A negative number counts as 0 unless the type allows it. */
function finishedValue(number: Decimal | null, allowsNegative: boolean): EventValue {
  const value = number === null ? null : cutToValue(number);
  if (value === null) return UNREADABLE;
  if (value.isZero()) return NOTHING;
  return value.isNegative() && !allowsNegative
    ? NOTHING
    : { value, isUnreadable: false, unique: null };
}

/** Tells texts apart; an event without the property has none and does not count. */
function textRule(type: AggregationType, field: string, hashText: HashText): ValueRule {
  const valueOf = ([text]: Texts): EventValue =>
    typeof text === 'string' ? { ...ONE_EVENT, unique: hashText(text) } : UNREADABLE;
  return { type, properties: [field], cost: 0, valueOf };
}

/**
 * The only definition of an event's value, used by the live stream, backfills and readers.
 * COUNT_UNIQUE has no number: its value only says whether there is a text.
 * @throws TypeError for an aggregation that no meter can have: it was checked at creation.
 */
export function compileValueRule(aggregation: MeterAggregation, hashText: HashText): ValueRule {
  const { type, field, expression, multiplier } = aggregation;
  const { counts, allowsNegative } = AGGREGATIONS[type];
  if (counts === 'event') return { type, properties: [], cost: 0, valueOf: () => ONE_EVENT };
  if (counts === 'text') return textRule(type, field ?? '', hashText);
  const rule = expression === null ? fieldRule(field ?? '') : expressionRule(expression);
  const factor = multiplier === null ? null : decimalOf(multiplier);
  return {
    type,
    properties: rule.properties,
    cost: rule.cost,
    valueOf: (texts) => {
      const number = rule.numberOf(texts);
      return finishedValue(number === null ? null : multiplied(number, factor), allowsNegative);
    },
  };
}
