import type { Fraction } from '../fraction.js';

export type BinaryOperator =
  '+' | '-' | '*' | '/' | '%' | '<' | '<=' | '>' | '>=' | '==' | '!=' | '&&' | '||';

export const FUNCTION_NAMES = ['min', 'max', 'abs', 'ceil', 'floor', 'round'] as const;
export type FunctionName = (typeof FUNCTION_NAMES)[number];

/** A parsed meter expression (docs/domain.md 7.5). */
export type Expression =
  | { readonly kind: 'number'; readonly value: Fraction }
  | { readonly kind: 'text'; readonly value: string }
  | { readonly kind: 'property'; readonly name: string }
  | { readonly kind: 'minus'; readonly operand: Expression }
  | { readonly kind: 'not'; readonly operand: Expression }
  | {
      readonly kind: 'binary';
      readonly operator: BinaryOperator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | {
      readonly kind: 'choice';
      readonly condition: Expression;
      readonly whenTrue: Expression;
      readonly whenFalse: Expression;
    }
  | {
      readonly kind: 'call';
      readonly name: FunctionName;
      readonly operands: readonly Expression[];
    };

/** The text is no expression of the grammar. */
export class ExpressionError extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'ExpressionError';
  }
}
