import { Linter, type Rule } from 'eslint';
import { describe, expect, it } from 'vitest';

const path = new URL('../.config/no-silent-zero.js', import.meta.url).href;
const { noSilentZero } = (await import(path)) as { readonly noSilentZero: Rule.RuleModule };
const config = {
  plugins: { house: { rules: { 'no-silent-zero': noSilentZero } } },
  rules: { 'house/no-silent-zero': 'error' },
} as const;
const findingsIn = (code: string): readonly (string | undefined)[] =>
  new Linter().verify(code, config).map(({ messageId }) => messageId);

describe('a default for what was not found', () => {
  it.each([
    'ZERO',
    '0',
    '0n',
    '-1',
    "''",
    '""',
    '``',
    '[]',
    'EMPTY_CELL',
    'new Decimal(0)',
    "new Decimal('0')",
    "decimalOf('0')",
    'BigInt(0)',
    "zeroMoney('usd')",
    'zeroMoney(currency)',
  ])('may not be %s where money and usage are computed', (empty) => {
    expect(findingsIn(`amounts.get(line) ?? ${empty};`)).toEqual(['empty']);
    expect(findingsIn(`amounts.get(line) || ${empty};`)).toEqual(['empty']);
    expect(findingsIn(`let amount; amount ??= ${empty};`)).toEqual(['empty']);
    expect(findingsIn(`const [amount = ${empty}] = amounts;`)).toEqual(['empty']);
  });

  it.each(['amounts.get(line) ?? null', 'count ?? 1', 'isLate || isLast', 'name ?? `${a}`'])(
    'may be another value, as in %s',
    (code) => {
      expect(findingsIn(`${code};`)).toEqual([]);
    },
  );

  it('may be empty below a comment that says why absence means that', () => {
    const why = '// Absent means zero: this is the first cell of the bucket.';
    expect(findingsIn(`${why}\nsums.get(bucket) ?? ZERO;`)).toEqual([]);
    expect(findingsIn(`${why}\n// It has no other.\nsums.get(bucket) ?? ZERO;`)).toEqual([]);
    expect(findingsIn(`// Absent means zero:\nsums.get(bucket) ?? ZERO;`)).toEqual(['empty']);
    expect(findingsIn(`${why}\n\nsums.get(bucket) ?? ZERO;`)).toEqual(['needless', 'empty']);
  });

  it('needs no reason where there is no default', () => {
    const why = '// Absent means none: no level has an association.';
    expect(findingsIn(`${why}\nmustGet(sums, bucket);`)).toEqual(['needless']);
  });
});
