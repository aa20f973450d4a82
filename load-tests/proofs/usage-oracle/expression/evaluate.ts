import {
  add,
  compare,
  divide,
  floor,
  multiply,
  negate,
  round,
  truncate,
  type Fraction,
} from '../fraction.js';
import { boundedNumber, readNumber } from '../numeric-text.js';
import type { Expression, FunctionName } from './expression.js';

type Choice = Extract<Expression, { readonly kind: 'choice' }>;
type Binary = Extract<Expression, { readonly kind: 'binary' }>;

/** What an expression or a part of it yields: an exact number, a text or a truth value. */
type Value = Fraction | string | boolean;

/** Properties of the event at hand; null for one that it does not have. */
type Lookup = (name: string) => string | null;

/** An event for which the expression has no value; caught where the event is valued. */
class NoValue extends Error {}

function fail(reason: string): never {
  throw new NoValue(reason);
}

function numberIn(value: Value): Fraction | null {
  if (typeof value === 'string') return readNumber(value);
  return typeof value === 'boolean' ? null : value;
}

function asNumber(value: Value): Fraction {
  return numberIn(value) ?? fail('not a number');
}

/** Numbers are true unless 0; the texts `true` and `false` are what JSON booleans are stored as. */
function asTruth(value: Value): boolean {
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  return asNumber(value).numerator !== 0n;
}

function areEqual(left: Value, right: Value): boolean {
  const [leftNumber, rightNumber] = [numberIn(left), numberIn(right)];
  if (leftNumber !== null && rightNumber !== null) return compare(leftNumber, rightNumber) === 0;
  return typeof left === typeof right && left === right;
}

function quotient(left: Fraction, right: Fraction): Fraction {
  return right.numerator === 0n ? fail('division by zero') : divide(left, right);
}

/** The remainder has the sign of the dividend. */
function remainder(left: Fraction, right: Fraction): Fraction {
  const times = truncate(quotient(left, right));
  return add(left, negate(multiply(times, right)));
}

const ARITHMETIC: Readonly<Record<string, (left: Fraction, right: Fraction) => Value>> = {
  '+': add,
  '-': (left, right) => add(left, negate(right)),
  '*': multiply,
  '/': quotient,
  '%': remainder,
  '<': (left, right) => compare(left, right) < 0,
  '<=': (left, right) => compare(left, right) <= 0,
  '>': (left, right) => compare(left, right) > 0,
  '>=': (left, right) => compare(left, right) >= 0,
};

function greatest(operands: readonly Fraction[]): Fraction {
  return operands.reduce((best, next) => (compare(next, best) > 0 ? next : best));
}

const FUNCTIONS: Readonly<Record<FunctionName, (operands: readonly Fraction[]) => Fraction>> = {
  max: greatest,
  min: (operands) => negate(greatest(operands.map(negate))),
  abs: (operands) => greatest([...operands, ...operands.map(negate)]),
  floor: (operands) => floor(only(operands)),
  ceil: (operands) => negate(floor(negate(only(operands)))),
  round: (operands) => round(only(operands)),
};

function only(operands: readonly Fraction[]): Fraction {
  return operands[0] ?? fail('no operand');
}

function evaluateBinary({ operator, left, right }: Binary, lookup: Lookup): Value {
  const leftValue = evaluate(left, lookup);
  // The right side is not looked at when the left one decides.
  if (operator === '&&') return asTruth(leftValue) && asTruth(evaluate(right, lookup));
  if (operator === '||') return asTruth(leftValue) || asTruth(evaluate(right, lookup));
  const rightValue = evaluate(right, lookup);
  if (operator === '==') return areEqual(leftValue, rightValue);
  if (operator === '!=') return !areEqual(leftValue, rightValue);
  const operate = ARITHMETIC[operator] ?? fail('unknown operator');
  const result = operate(asNumber(leftValue), asNumber(rightValue));
  return typeof result === 'object' ? (boundedNumber(result) ?? fail('out of range')) : result;
}

/** The other side of a choice is not looked at. */
function chosen(choice: Choice, lookup: Lookup): Expression {
  return asTruth(evaluate(choice.condition, lookup)) ? choice.whenTrue : choice.whenFalse;
}

function evaluate(expression: Expression, lookup: Lookup): Value {
  switch (expression.kind) {
    case 'number':
    case 'text':
      return expression.value;
    case 'property':
      return lookup(expression.name) ?? fail('missing property');
    case 'minus':
      return negate(asNumber(evaluate(expression.operand, lookup)));
    case 'not':
      return !asTruth(evaluate(expression.operand, lookup));
    case 'binary':
      return evaluateBinary(expression, lookup);
    case 'choice':
      return evaluate(chosen(expression, lookup), lookup);
    case 'call': {
      const operands = expression.operands.map((operand) => asNumber(evaluate(operand, lookup)));
      return FUNCTIONS[expression.name](operands);
    }
  }
}

/**
 * The number that an expression yields for one event, exact and not yet cut. Null when it has none:
 * a missing property, a non-number in arithmetic, a division by zero, a result that is no number.
 */
export function numberOf(expression: Expression, lookup: Lookup): Fraction | null {
  try {
    return numberIn(evaluate(expression, lookup));
  } catch (error) {
    if (error instanceof NoValue) return null;
    throw error;
  }
}
