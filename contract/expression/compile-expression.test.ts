import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ONE, plain } from '../number/decimal.js';
import { compileExpression, DIVISIONS_MAX, isExpressionProblem } from './compile-expression.js';
import { cutProduct } from './exact-number.js';

type Properties = Readonly<Record<string, string>>;

/** Digits of the result, a fraction cut to 18 of them; `failed`, or the problem. */
function evaluated(text: string, properties: Properties = {}): string {
  const compiled = compileExpression(text);
  if (isExpressionProblem(compiled)) return `problem: ${compiled.problem}`;
  const result = compiled.evaluate((property) =>
    Object.hasOwn(properties, property) ? (properties[property] ?? null) : null,
  );
  if (result === null) return 'failed';
  return plain(result instanceof Decimal ? result : cutProduct(result, ONE));
}

describe('an expression', () => {
  it.each([
    ['1 + 2 * 3', '7'],
    ['(1 + 2) * 3', '9'],
    ['10 - 4 - 3', '3'],
    ['-3 + 5', '2'],
    ['- -3', '3'],
    ['7 % 3', '1'],
    ['-7 % 3', '-1'],
    ['1 / 8', '0.125'],
    ['0.1 + 0.2', '0.3'],
    ['1e3 + .5', '1000.5'],
    ['12345678901234567890.000000000000000001 + 1', '12345678901234567891.000000000000000001'],
    ['min(3, 1, 2)', '1'],
    ['max(3, 1, 2)', '3'],
    ['abs(-2.5)', '2.5'],
    ['ceil(1.2) + floor(1.8)', '3'],
    ['ceil(-1.2)', '-1'],
    ['floor(-1.2)', '-2'],
    ['round(2.5)', '3'],
    ['round(-2.5)', '-3'],
    ['1 < 2 ? 10 : 20', '10'],
    ['2 <= 2 && 3 >= 3 && 2 > 1 && 1 != 2 && 1 == 1 ? 1 : 0', '1'],
    ['0 || 2 ? 1 : 0', '1'],
    ['!0 ? 1 : 0', '1'],
    ['"a" == "a" ? 1 : 0', '1'],
    ["'a' != 'b' ? 1 : 0", '1'],
    ['1 ? 2 : 3 / 0', '2'],
    ['1 || 1 / 0 ? 5 : 6', '5'],
    ['0 && 1 / 0 ? 5 : 6', '6'],
  ])('%s is %s', (text, result) => {
    expect(evaluated(text)).toBe(result);
  });

  it.each([
    ['2 / 3', '0.666666666666666666'],
    ['-2 / 3', '-0.666666666666666666'],
    ['1 / 3 * 3', '1'],
    ['-(1 / 3) * 3', '-1'],
    ['7 / 3 + 2 / 3', '3'],
    ['7 / 3 - 1 / 3', '2'],
    ['1 / 3 / (1 / 6)', '2'],
    ['floor(1 / 3 * 3)', '1'],
    ['ceil(0.1 / 0.3 * 3)', '1'],
    ['round(7 / 3 * 3 / 2)', '4'],
    ['round(-1 / 3 * 1.5)', '-1'],
    ['floor(-1 / 3) + ceil(-1 / 3)', '-1'],
    ['abs(-1 / 3) * 3', '1'],
    ['min(1 / 3, 1) * max(1, 7 / 3) * 9', '7'],
    ['(7 / 3) % (2 / 3) * 3', '1'],
    ['(-7 / 3) % 1 * 3', '-1'],
    ['(1 / 3 * 3) % 1', '0'],
    ['1 / 3 * 3 == 1 ? 1 : 0', '1'],
    ['1 / 3 != 2 / 6 ? 1 : 0', '0'],
    ['1 / 3 < 2 / 6 || 1 / 3 > 2 / 6 ? 1 : 0', '0'],
    ['1 / 3 > 0.333333333333333333 ? 1 : 0', '1'],
    ['1 / 3 - 1 / 3 ? 1 : 2', '2'],
    ['1 / (1 / 3 - 1 / 3)', 'failed'],
    ['1 % (1 / 3 - 1 / 3)', 'failed'],
    ['1e90 + 1e-90 - 1e90 == 1e-90 ? 1 : 0', '1'],
    ['2e99 / 3 * 15', 'failed'],
    ['1e-100 / 3 * 1e99', '0'],
  ])('%s is %s, because quotients are exact', (text, result) => {
    expect(evaluated(text)).toBe(result);
  });

  it.each([
    ['bytes / 1024', { bytes: '2048' }, '2'],
    ['properties["size (kB)"] * 2', { 'size (kB)': '1.5' }, '3'],
    ['region == "eu" ? n : n * 2', { region: 'us', n: '4' }, '8'],
    ['a == b ? 1 : 0', { a: '1.0', b: '1' }, '0'],
    ['a == 1 ? 1 : 0', { a: '1.0' }, '1'],
    ['a && b ? 1 : 0', { a: 'true', b: 'false' }, '0'],
    ['missing + 1', {}, 'failed'],
    ['n + 1', { n: 'x' }, 'failed'],
    ['n / 0', { n: '1' }, 'failed'],
    ['n % 0', { n: '1' }, 'failed'],
    ['n', { n: '1e999999999' }, 'failed'],
    ['n < 3', { n: '1' }, 'failed'],
    ['"text"', {}, 'failed'],
    ['properties["__proto__"] + 1', {}, 'failed'],
    ['constructor', {}, 'failed'],
  ] as const)('%s over %o is %s', (text, properties, result) => {
    expect(evaluated(text, properties)).toBe(result);
  });

  it.each([
    '',
    ' ',
    '1 +',
    '1 2',
    'a b',
    'a; b',
    'a, b',
    '(1',
    'a.b',
    'a[0]',
    'properties[n]',
    'properties[""]',
    'properties.n',
    'other["n"]',
    '[1]',
    'this',
    'a = 1',
    'a === b',
    'a ** b',
    'a & b',
    'a >>> b',
    '~a',
    '+a',
    'sin(1)',
    'min()',
    'abs(1, 2)',
    'a()',
    'constructor()',
    'properties["f"](1)',
    'true',
    'null',
    '0x10',
    '1e999999999',
    '`a`',
    '/a/',
    'a ?? b',
    'a?.b',
    '({})',
    'x => x',
    'new X',
    '@',
    `a${' + 1'.repeat(101)}`,
    'a'.repeat(1_001),
  ])('%s does not compile', (text) => {
    expect(evaluated(text)).toMatch(/^problem: (does not compile|is longer)/);
  });

  it('bounds what one can cost, however deep or large', () => {
    expect(evaluated(`${'('.repeat(490)}1${')'.repeat(490)}`)).toBe('1');
    expect(evaluated(`${'-'.repeat(199)}1`)).toMatch(/^-1$/);
    expect(evaluated(`${'!'.repeat(900)}1`)).toMatch(/^problem/);
    expect(evaluated(`${'('.repeat(900)}`)).toMatch(/^problem/);
    expect(evaluated(Array.from({ length: 90 }, () => 'n').join('*'), { n: '9e99' })).toBe(
      'failed',
    );
    expect(evaluated(Array.from({ length: 90 }, () => 'n').join('*'), { n: '9e-99' })).toBe('0');
    expect(evaluated('n % m * 1e99', { n: '9e99', m: '7e-99' })).toBe('2');
  });

  it('names the properties it reads, each once', () => {
    const compiled = compileExpression('a + properties["b c"] * a');
    expect(isExpressionProblem(compiled) ? null : compiled.properties).toEqual(['a', 'b c']);
  });

  it('ends for every text, with a number, a failure or a problem', () => {
    const part = fc.constantFrom(
      'a',
      '1',
      '.5',
      '"x"',
      '(',
      ')',
      '+',
      '-',
      '*',
      '/',
      '%',
      '<',
      '==',
      '&&',
      '!',
      '?',
      ':',
      'min(',
      'abs(',
      ',',
      'properties[',
      '"a"',
      ']',
      ' ',
      '1e9',
      '[',
      '.',
      ';',
      "'",
    );
    const text = fc.oneof(
      fc.array(part, { maxLength: 30 }).map((all) => all.join('')),
      fc.string(),
    );
    fc.assert(
      fc.property(text, (drawn) => {
        expect(evaluated(drawn, { a: '3' })).toMatch(/^(-?\d|failed$|problem: )/);
      }),
      { numRuns: 2_000 },
    );
  });

  it('calculates as whole numbers do', () => {
    const whole = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
    fc.assert(
      fc.property(whole, whole, whole, (a, b, c) => {
        const properties = { a: String(a), b: String(b), c: String(c) };
        expect(evaluated('a * b + c', properties)).toBe(String(a * b + c));
        expect(evaluated('a - b * c', properties)).toBe(String(a - b * c));
        expect(evaluated('a % b', properties)).toBe(b === 0n ? 'failed' : String(a % b));
        expect(evaluated('max(a, b, c)', properties)).toBe(
          String([a, b, c].reduce((max, value) => (value > max ? value : max))),
        );
        expect(evaluated('a < b ? a : b', properties)).toBe(String(a < b ? a : b));
      }),
    );
  });
});

describe('the time that an expression takes', () => {
  const compiled = (text: string) => {
    const expression = compileExpression(text);
    if (isExpressionProblem(expression)) throw new Error(expression.problem);
    return expression;
  };

  it('is bounded by its divisions, which are counted', () => {
    expect(compiled('a / b % c + max(a / 2, -(b / c))').divisions).toBe(4);
    expect(compiled('a + b * c').divisions).toBe(0);
  });

  it('is predicted by its parts and divisions', () => {
    expect(compiled('a * 2 + b').cost).toBe(5);
    expect(compiled('a / b % c').cost).toBe(25);
  });

  it('is bounded by the digits of a number: one of more is not readable', () => {
    const longest = `0.${'7'.repeat(160)}`;
    const { evaluate } = compiled('a');
    expect(String(evaluate(() => longest))).toBe(longest);
    expect(String(evaluate(() => `${longest}000e3`))).not.toBe('null');
    expect(evaluate(() => `${longest}1`)).toBeNull();
    expect(compileExpression(`a + ${longest}1`)).toEqual({
      problem: expect.stringContaining('is neither a number of up to 160 digits') as string,
    });
  });

  it('stays below 5 ms of a core for the longest texts', () => {
    const quotients = Array.from({ length: DIVISIONS_MAX }, () => 'a / b').join(', ');
    const { evaluate } = compiled(`max(${quotients})`);
    const costMs = Array.from({ length: 10 }, (_none, round) => {
      const a = `0.${'1'.repeat(158)}${round + 1}`;
      const b = `0.${'3'.repeat(157)}7${round + 1}`;
      const before = process.cpuUsage();
      expect(evaluate((name) => (name === 'a' ? a : b))).not.toBeNull();
      return process.cpuUsage(before).user / 1000;
    });
    expect(Math.min(...costMs)).toBeLessThan(5);
  });

  it('does not depend on how a quotient is found: it ends where decimal digits end', () => {
    const quotient = (a: string, b: string) =>
      compiled('a / b').evaluate((name) => (name === 'a' ? a : b));
    expect(String(quotient('1', '1024'))).toBe('0.0009765625');
    expect(String(quotient('0', '7'))).toBe('0');
    expect(String(quotient('-6e99', '3e-1'))).toBe('null');
    expect(String(quotient('-6e50', '3e-1'))).toBe(`-2${'0'.repeat(51)}`);
    expect(quotient('1', '3')).toEqual({ numerator: 1n, denominator: 3n });
    expect(String(quotient('1e-90', '8e10'))).toBe('0');
    expect(String(quotient('1e-50', '8e10'))).toBe(`0.${'0'.repeat(60)}125`);
  });
});
