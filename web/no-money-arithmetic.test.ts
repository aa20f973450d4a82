import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { projectRoot } from '../runtime/project.js';

/** Names of members that hold money or quantities, whole or as a part. */
const MONEY =
  /amount|total|balance|quantity|price|tax|discount|credit|paid|due\b|charge|overage|revenue|rounded|exact|sum\b/i;
/** Counts of rows, which are numbers in the interface too. */
const COUNTS = /^(pagination\.)?total$|^(total|offset|last|count)$/;
const CONVERSIONS =
  /^(Number|parseFloat|parseInt|BigInt|Number\.parseFloat|Number\.parseInt|Math\.\w+)$/;
const OPERATORS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.MinusToken,
  ts.SyntaxKind.AsteriskToken,
  ts.SyntaxKind.SlashToken,
  ts.SyntaxKind.PercentToken,
  ts.SyntaxKind.PlusToken,
  ts.SyntaxKind.PlusEqualsToken,
  ts.SyntaxKind.MinusEqualsToken,
]);

function isMoney(node: ts.Node): boolean {
  const text = node.getText();
  return !ts.isStringLiteralLike(node) && MONEY.test(text) && !COUNTS.test(text);
}

const SIGNS: ReadonlySet<ts.SyntaxKind> = new Set([
  ts.SyntaxKind.PlusToken,
  ts.SyntaxKind.MinusToken,
]);

function isComputedCall({ expression, arguments: given }: ts.CallExpression): boolean {
  const name = expression.getText();
  return name.endsWith('.toFixed') || (CONVERSIONS.test(name) && given.some(isMoney));
}

/** Whether a node computes something of money. */
function isComputed(node: ts.Node): boolean {
  if (ts.isBinaryExpression(node)) {
    const isOperator = OPERATORS.has(node.operatorToken.kind);
    return isOperator && (isMoney(node.left) || isMoney(node.right));
  }
  if (ts.isPrefixUnaryExpression(node)) return SIGNS.has(node.operator) && isMoney(node.operand);
  return ts.isCallExpression(node) && isComputedCall(node);
}

function computationsOf(name: string, text: string): readonly string[] {
  const kind = name.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, kind);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isComputed(node)) found.push(node.getText());
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const sources = readdirSync(join(projectRoot, 'web'), { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.tsx?$/.test(name) && !name.endsWith('.test.ts'),
);

describe('the console computes no money', () => {
  test.each([
    'const x = invoice.total + line.amount;',
    'const x = Number(invoice.total_tax);',
    'const x = +balance;',
    'const x = parseFloat(wallet.credit_balance) * 2;',
    'const x = (3).toFixed(2);',
    'let sum = 0; sum += quantity;',
    'const x = Math.round(price.amount);',
  ])('%s would be found', (text) => {
    expect(computationsOf('x.ts', text)).not.toEqual([]);
  });

  test.each([
    'const x = `${amount} ${currency}`;',
    'const last = Math.min(offset + 50, total);',
    "const x = 'total' + name;",
  ])('%s is none', (text) => {
    expect(computationsOf('x.ts', text)).toEqual([]);
  });

  test('in any of its sources', () => {
    expect(sources.length).toBeGreaterThan(25);
    const found = sources.flatMap((name) =>
      computationsOf(name, readFileSync(join(projectRoot, 'web', name), 'utf8')).map(
        (text) => `${name}: ${text}`,
      ),
    );
    expect(found).toEqual([]);
  });
});
