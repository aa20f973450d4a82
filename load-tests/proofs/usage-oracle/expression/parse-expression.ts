import { readNumber } from '../numeric-text.js';
import {
  ExpressionError,
  FUNCTION_NAMES,
  type BinaryOperator,
  type Expression,
  type FunctionName,
} from './expression.js';
import { tokensOf, type Token } from './tokens.js';

/** From the weakest to the strongest; all group from left to right. */
const LEVELS: readonly (readonly BinaryOperator[])[] = [
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<', '<=', '>', '>='],
  ['+', '-'],
  ['*', '/', '%'],
];

/** One pass over the tokens, one method per rule of the grammar. */
class Parser {
  private position = 0;

  constructor(private readonly tokens: readonly Token[]) {}

  whole(): Expression {
    const expression = this.choice();
    if (this.position < this.tokens.length) this.fail();
    return expression;
  }

  private choice(): Expression {
    const condition = this.binary(0);
    if (!this.takes('?')) return condition;
    const whenTrue = this.choice();
    this.expect(':');
    return { kind: 'choice', condition, whenTrue, whenFalse: this.choice() };
  }

  private binary(level: number): Expression {
    const operators = LEVELS[level];
    if (operators === undefined) return this.unary();
    let left = this.binary(level + 1);
    for (;;) {
      const operator = operators.find((candidate) => this.takes(candidate));
      if (operator === undefined) return left;
      left = { kind: 'binary', operator, left, right: this.binary(level + 1) };
    }
  }

  private unary(): Expression {
    if (this.takes('-')) return { kind: 'minus', operand: this.unary() };
    if (this.takes('!')) return { kind: 'not', operand: this.unary() };
    return this.primary();
  }

  private primary(): Expression {
    if (this.takes('(')) {
      const inner = this.choice();
      this.expect(')');
      return inner;
    }
    const token = this.tokens[this.position];
    this.position += 1;
    if (token?.kind === 'text') return { kind: 'text', value: token.text };
    if (token?.kind === 'number') return this.number(token.text);
    if (token?.kind === 'name') return this.named(token.text);
    return this.fail();
  }

  private number(text: string): Expression {
    const value = readNumber(text);
    return value === null ? this.fail() : { kind: 'number', value };
  }

  private named(name: string): Expression {
    if (this.takes('(')) return this.call(name);
    if (name !== 'properties' || !this.takes('[')) return { kind: 'property', name };
    const key = this.tokens[this.position];
    this.position += 1;
    if (key?.kind !== 'text') return this.fail();
    this.expect(']');
    return { kind: 'property', name: key.text };
  }

  private call(text: string): Expression {
    const name = FUNCTION_NAMES.find((known) => known === text);
    if (name === undefined) return this.fail();
    const operands = [this.choice()];
    while (this.takes(',')) operands.push(this.choice());
    this.expect(')');
    if (!takesAny(name) && operands.length !== 1) return this.fail();
    return { kind: 'call', name, operands };
  }

  private takes(symbol: string): boolean {
    const token = this.tokens[this.position];
    if (token?.kind !== 'symbol' || token.text !== symbol) return false;
    this.position += 1;
    return true;
  }

  private expect(symbol: string): void {
    if (!this.takes(symbol)) this.fail();
  }

  private fail(): never {
    throw new ExpressionError(`unexpected token ${this.position}`);
  }
}

function takesAny(name: FunctionName): boolean {
  return name === 'min' || name === 'max';
}

/** @throws ExpressionError when the text is not of the grammar of docs/domain.md 7.5. */
export function parseExpression(text: string): Expression {
  return new Parser(tokensOf(text)).whole();
}
