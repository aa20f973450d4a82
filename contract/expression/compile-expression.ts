import jsep from 'jsep';
import type { ExactNumber } from './exact-number.js';
import { numberOf, numberOfText, isTrue, type Evaluate, DIGITS_MAX } from './expression-value.js';
import { BINARY_OPERATORS, FUNCTIONS, UNARY_OPERATORS } from './operators.js';

export type CompiledExpression = {
  /** Properties that the value may depend on, each once, in order of appearance. */
  readonly properties: readonly string[];
  /** The number, not yet cut or bounded like a value; null when it cannot be computed. */
  readonly evaluate: (textOf: (property: string) => string | null) => ExactNumber | null;
  /** How many `/` and `%` it has, which cost most of the time that it takes. */
  readonly divisions: number;
  /** What one event costs at most: about so many microseconds of a core. */
  readonly cost: number;
};
export type ExpressionProblem = { readonly problem: string };

const LENGTH_MAX = 1_000;
/**
 * Of a new meter; those of earlier releases may have more. Every event of every tenant is counted
 * on one thread, so no expression may take much longer than others.
 */
export const DIVISIONS_MAX = 20;
/** With it the depth is bounded too: there are no loops, so every evaluation ends. */
const NODES_MAX = 200;

/**
 * A division takes about as long as so many other parts. The dearest expressions took 0.1 to 0.4 ms
 * with numbers of 18 to 160 digits, and 1.8 ms with 990 digits (27 Nov 2026, a busy core): thus
 * `DIGITS_MAX`.
 */
const COST_OF_DIVISION = 10;

class Unusable extends Error {}

type Compiling = { readonly properties: Set<string>; nodes: number; divisions: number };
type Node = jsep.CoreExpression;

function propertyNameOf(node: jsep.MemberExpression): string {
  const { object, property, computed } = node as jsep.MemberExpression & {
    readonly object: Node;
    readonly property: Node;
  };
  const isProperties = object.type === 'Identifier' && object.name === 'properties';
  const isNamed = computed && property.type === 'Literal' && typeof property.value === 'string';
  if (!isProperties || !isNamed || node.optional === true) {
    throw new Unusable('a property is written name or properties["name"]');
  }
  return String(property.value);
}

function compileProperty(compiling: Compiling, name: string): Evaluate {
  if (name === '') throw new Unusable('a property has no name');
  compiling.properties.add(name);
  return (textOf) => textOf(name);
}

function compileLiteral(node: jsep.Literal): Evaluate {
  const { value, raw } = node;
  if (typeof value === 'string') return () => value;
  // The raw text, because the number that the parser made of it has lost digits.
  const number = typeof value === 'number' ? numberOfText(raw) : null;
  if (number === null)
    throw new Unusable(
      `${raw} is neither a number of up to ${DIGITS_MAX} digits nor a text in quotes`,
    );
  return () => number;
}

function compileUnary(compiling: Compiling, node: jsep.UnaryExpression): Evaluate {
  const operate = UNARY_OPERATORS.get(node.operator);
  if (operate === undefined) throw new Unusable(`there is no operator ${node.operator}`);
  const argument = compileNode(compiling, node.argument as Node);
  return (textOf) => {
    const value = argument(textOf);
    return value === null ? null : operate(value);
  };
}

function compileBinary(compiling: Compiling, node: jsep.BinaryExpression): Evaluate {
  const operator = BINARY_OPERATORS.get(node.operator);
  if (operator === undefined) throw new Unusable(`there is no operator ${node.operator}`);
  if (node.operator === '/' || node.operator === '%') compiling.divisions += 1;
  const left = compileNode(compiling, node.left as Node);
  return operator(left, compileNode(compiling, node.right as Node));
}

function compileConditional(compiling: Compiling, node: jsep.ConditionalExpression): Evaluate {
  const test = compileNode(compiling, node.test as Node);
  const consequent = compileNode(compiling, node.consequent as Node);
  const alternate = compileNode(compiling, node.alternate as Node);
  return (textOf) => {
    const condition = test(textOf);
    if (condition === null) return null;
    return isTrue(condition) ? consequent(textOf) : alternate(textOf);
  };
}

function compileCall(compiling: Compiling, node: jsep.CallExpression): Evaluate {
  const callee = node.callee as Node;
  const name = callee.type === 'Identifier' ? callee.name : '';
  const called = FUNCTIONS.get(name);
  if (called === undefined) {
    throw new Unusable(`the functions are ${[...FUNCTIONS.keys()].join(', ')}`);
  }
  const count = node.arguments.length;
  if (count < 1 || count > called.argumentsMax) {
    throw new Unusable(`${name} takes 1 to ${called.argumentsMax} values, not ${count}`);
  }
  const parts = node.arguments.map((argument) => compileNode(compiling, argument as Node));
  return (textOf) => {
    const numbers: ExactNumber[] = [];
    for (const part of parts) {
      const number = numberOf(part(textOf));
      if (number === null) return null;
      numbers.push(number);
    }
    const [first, ...others] = numbers;
    return first === undefined ? null : called.calculate(first, others);
  };
}

// One case for each kind of node: split up, the list would be harder to check for completeness.
// eslint-disable-next-line complexity
function compileNode(compiling: Compiling, node: Node): Evaluate {
  compiling.nodes += 1;
  if (compiling.nodes > NODES_MAX) throw new Unusable(`it has more than ${NODES_MAX} parts`);
  switch (node.type) {
    case 'Identifier':
      return compileProperty(compiling, node.name);
    case 'MemberExpression':
      return compileProperty(compiling, propertyNameOf(node));
    case 'Literal':
      return compileLiteral(node);
    case 'UnaryExpression':
      return compileUnary(compiling, node);
    case 'BinaryExpression':
      return compileBinary(compiling, node);
    case 'ConditionalExpression':
      return compileConditional(compiling, node);
    case 'CallExpression':
      return compileCall(compiling, node);
    case 'Compound':
    case 'SequenceExpression':
      throw new Unusable('it is not one expression: an operator is missing');
    case 'ArrayExpression':
    case 'ThisExpression':
      throw new Unusable('lists and `this` have no meaning here');
  }
}

function parse(text: string): Node {
  try {
    return jsep(text) as Node;
  } catch (error) {
    throw new Unusable(error instanceof Error ? error.message : 'it cannot be read');
  }
}

/**
 * Compiles an expression of docs/domain.md 7.5: number and text literals, property names, `+ - * /
 * %`, unary minus, comparison, `&& || !`, `? :`, parentheses, min max abs ceil floor round. Bounded
 * in length and parts and without loops; compiled once, evaluated on exact numbers.
 */
export function compileExpression(text: string): CompiledExpression | ExpressionProblem {
  if (text.length > LENGTH_MAX) return { problem: `is longer than ${LENGTH_MAX} characters` };
  const compiling: Compiling = { properties: new Set(), nodes: 0, divisions: 0 };
  try {
    const evaluate = compileNode(compiling, parse(text));
    const properties = [...compiling.properties];
    const { divisions, nodes } = compiling;
    const cost = nodes + COST_OF_DIVISION * divisions;
    return { properties, divisions, cost, evaluate: (textOf) => numberOf(evaluate(textOf)) };
  } catch (error) {
    if (error instanceof Unusable) return { problem: `does not compile: ${error.message}` };
    throw error;
  }
}

export function isExpressionProblem(
  compiled: CompiledExpression | ExpressionProblem,
): compiled is ExpressionProblem {
  return 'problem' in compiled;
}
