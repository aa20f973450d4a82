import { Decimal, maxOf, minOf } from '../decimal.js';
import { boundedNumber } from '../numeric-text.js';
import {
  compareNumbers,
  isEqual,
  isTrue,
  numberOf,
  type Evaluate,
  type ExpressionValue,
} from './expression-value.js';

type Operator = (left: Evaluate, right: Evaluate) => Evaluate;

function arithmetic(calculate: (left: Decimal, right: Decimal) => Decimal | null): Operator {
  return (left, right) => (textOf) => {
    const one = numberOf(left(textOf));
    const other = one === null ? null : numberOf(right(textOf));
    const result = one === null || other === null ? null : calculate(one, other);
    return result === null ? null : boundedNumber(result);
  };
}

function comparison(holds: (order: number) => boolean): Operator {
  return (left, right) => (textOf) => {
    const one = left(textOf);
    const other = one === null ? null : right(textOf);
    if (one === null || other === null) return null;
    const order = compareNumbers(one, other);
    return order === null ? null : holds(order);
  };
}

function equality(isWanted: boolean): Operator {
  return (left, right) => (textOf) => {
    const one = left(textOf);
    const other = one === null ? null : right(textOf);
    return one === null || other === null ? null : isEqual(one, other) === isWanted;
  };
}

/** The right side is not looked at when the left one decides. */
function junction(deciding: boolean): Operator {
  return (left, right) => (textOf) => {
    const one = left(textOf);
    if (one === null) return null;
    if (isTrue(one) === deciding) return deciding;
    const other = right(textOf);
    return other === null ? null : isTrue(other);
  };
}

/** Binary operators of docs/domain.md 7.5; the remainder has the sign of the dividend. */
export const BINARY_OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['+', arithmetic((left, right) => left.plus(right))],
  ['-', arithmetic((left, right) => left.minus(right))],
  ['*', arithmetic((left, right) => left.times(right))],
  ['/', arithmetic((left, right) => (right.isZero() ? null : left.dividedBy(right)))],
  ['%', arithmetic((left, right) => (right.isZero() ? null : left.modulo(right)))],
  ['==', equality(true)],
  ['!=', equality(false)],
  ['<', comparison((order) => order < 0)],
  ['<=', comparison((order) => order <= 0)],
  ['>', comparison((order) => order > 0)],
  ['>=', comparison((order) => order >= 0)],
  ['&&', junction(false)],
  ['||', junction(true)],
]);

type UnaryOperator = (value: ExpressionValue) => ExpressionValue | null;

export const UNARY_OPERATORS: ReadonlyMap<string, UnaryOperator> = new Map<string, UnaryOperator>([
  ['-', (value) => numberOf(value)?.negated() ?? null],
  ['!', (value) => !isTrue(value)],
]);

type NumberFunction = {
  readonly argumentsMax: number;
  readonly calculate: (first: Decimal, others: readonly Decimal[]) => Decimal;
};

/** Functions; `round` is half-up away from zero, like every rounding of the product. */
export const FUNCTIONS: ReadonlyMap<string, NumberFunction> = new Map([
  ['min', { argumentsMax: 20, calculate: (first, others) => others.reduce(minOf, first) }],
  ['max', { argumentsMax: 20, calculate: (first, others) => others.reduce(maxOf, first) }],
  ['abs', { argumentsMax: 1, calculate: (first) => first.abs() }],
  ['ceil', { argumentsMax: 1, calculate: (first) => first.ceil() }],
  ['floor', { argumentsMax: 1, calculate: (first) => first.floor() }],
  [
    'round',
    { argumentsMax: 1, calculate: (first) => first.toDecimalPlaces(0, Decimal.ROUND_HALF_UP) },
  ],
] satisfies [string, NumberFunction][]);
