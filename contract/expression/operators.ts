import {
  absolute,
  add,
  ceil,
  compare,
  divide,
  floor,
  multiply,
  negate,
  remainder,
  round,
  subtract,
  type ExactNumber,
} from './exact-number.js';
import {
  compareNumbers,
  isEqual,
  isTrue,
  numberOf,
  type Evaluate,
  type ExpressionValue,
} from './expression-value.js';

type Operator = (left: Evaluate, right: Evaluate) => Evaluate;

function arithmetic(
  calculate: (left: ExactNumber, right: ExactNumber) => ExactNumber | null,
): Operator {
  return (left, right) => (textOf) => {
    const one = numberOf(left(textOf));
    const other = one === null ? null : numberOf(right(textOf));
    return one === null || other === null ? null : calculate(one, other);
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
  ['+', arithmetic(add)],
  ['-', arithmetic(subtract)],
  ['*', arithmetic(multiply)],
  ['/', arithmetic(divide)],
  ['%', arithmetic(remainder)],
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

function negated(value: ExpressionValue): ExactNumber | null {
  const number = numberOf(value);
  return number === null ? null : negate(number);
}

export const UNARY_OPERATORS: ReadonlyMap<string, UnaryOperator> = new Map<string, UnaryOperator>([
  ['-', negated],
  ['!', (value) => !isTrue(value)],
]);

type NumberFunction = {
  readonly argumentsMax: number;
  readonly calculate: (first: ExactNumber, others: readonly ExactNumber[]) => ExactNumber;
};

const least = (best: ExactNumber, next: ExactNumber): ExactNumber =>
  compare(next, best) < 0 ? next : best;
const greatest = (best: ExactNumber, next: ExactNumber): ExactNumber =>
  compare(next, best) > 0 ? next : best;

/** Functions; `round` is half-up away from zero, like every rounding of the product. */
export const FUNCTIONS: ReadonlyMap<string, NumberFunction> = new Map<string, NumberFunction>([
  ['min', { argumentsMax: 20, calculate: (first, others) => others.reduce(least, first) }],
  ['max', { argumentsMax: 20, calculate: (first, others) => others.reduce(greatest, first) }],
  ['abs', { argumentsMax: 1, calculate: absolute }],
  ['ceil', { argumentsMax: 1, calculate: ceil }],
  ['floor', { argumentsMax: 1, calculate: floor }],
  ['round', { argumentsMax: 1, calculate: round }],
]);
