import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonProblem } from './find-json-problem.js';
import { preserveNumberText } from './preserve-number-text.js';
import { readJson, type JsonDocument } from './read-json.js';
import { checkJsonLimits } from '../../contract/check-json-limits.js';
import { EVENT_JSON_LIMITS } from './event-json-limits.js';

/** A JSON number in any form that the grammar allows. */
const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9][0-9]{0,24}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,24}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/)),
  )
  .map((parts) => parts.join(''));

/** A JSON text with the texts of its numbers. Its strings contain what looks like structure. */
type Sourced = { readonly source: string; readonly texts: readonly string[] };
const trickyString = fc
  .array(fc.constantFrom('"', '\\', '\\"', '1.50', '-0', '{', '[', ',', ':', 'é', '\n', 'u0041'))
  .map((parts) => parts.join(''));
const scalar: fc.Arbitrary<Sourced> = fc.oneof(
  numberText.map((source) => ({ source, texts: [source] })),
  trickyString.map((text) => ({ source: JSON.stringify(text), texts: [] })),
  fc.constantFrom('true', 'false', 'null').map((source) => ({ source, texts: [] })),
);
const blank = fc.constantFrom('', ' ', '\n\t', '\r ');
const { value: sourced } = fc.letrec<{ value: Sourced }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    scalar,
    fc.tuple(blank, fc.array(tie('value'))).map(([space, items]) => ({
      source: `[${space}${items.map((item) => item.source).join(`${space},`)}${space}]`,
      texts: items.flatMap((item) => item.texts),
    })),
    fc.tuple(blank, fc.array(fc.tuple(trickyString, tie('value')))).map(([space, members]) => ({
      // The index makes names unique, since a second member of a name would hide the first.
      source: `{${members
        .map(
          ([name, item], index) => `${JSON.stringify(`${name}_${index}`)}${space}:${item.source}`,
        )
        .join(`,${space}`)}}`,
      texts: members.flatMap(([, item]) => item.texts),
    })),
  ),
}));

/** The values of `exact` that are numbers in `plain`, as texts. */
function numbersOf(plain: unknown, exact: unknown): string[] {
  if (typeof plain === 'number') return [String(exact)];
  if (typeof plain !== 'object' || plain === null) return [];
  return Object.entries(plain).flatMap(([key, value]: [string, unknown]) =>
    numbersOf(value, (exact as Record<string, unknown>)[key]),
  );
}

/** The value with every number turned into `null`. */
function withoutNumbers(plain: unknown, exact: unknown): unknown {
  if (typeof plain === 'number') return null;
  if (typeof plain !== 'object' || plain === null) return exact;
  return Object.entries(plain).map(([key, value]: [string, unknown]) => [
    key,
    withoutNumbers(value, (exact as Record<string, unknown>)[key]),
  ]);
}

function documentOf(text: string): JsonDocument {
  const document = readJson(text);
  if ('problem' in document) throw new Error(document.problem);
  return document;
}

describe('numbers of a document', () => {
  test.each([
    '1.50',
    '-0',
    '-0.0',
    '1e400',
    '1E+2',
    '100e-2',
    '0.0000001',
    '123456789012345678901234567890',
    '9'.repeat(400),
    `0.${'3'.repeat(400)}`,
  ])('keep the text %s', (text) => {
    const document = documentOf(`{"a":${text}}`);
    expect(document).toMatchObject({ value: { a: text }, hasQuotedNumbers: true });
    expect(typeof (document.plainValue() as { a: unknown }).a).toBe('number');
  });

  test.each(['0', '-1', '200', '1.5', '9007199254740991', '0.000001', '1e+21'])(
    'are left as they are when JavaScript prints the same text: %s',
    (text) => {
      expect(preserveNumberText(`[${text}]`)).toBeNull();
    },
  );

  test('keep their texts in any JSON', () => {
    fc.assert(
      fc.property(sourced, ({ source, texts }) => {
        const document = documentOf(source);
        const plain: unknown = JSON.parse(source);
        expect(document.plainValue()).toEqual(plain);
        expect(numbersOf(plain, document.value).sort()).toEqual([...texts].sort());
        expect(withoutNumbers(plain, document.value)).toEqual(withoutNumbers(plain, plain));
      }),
      { numRuns: 1000 },
    );
  });

  test('are read from 32 MiB without a stack overflow', () => {
    const filler = '\\"'.repeat(8 * 1024 * 1024);
    const text = `{"a":"${filler}","b":1.50,"c":"${'x'.repeat(15 * 1024 * 1024)}"}`;
    expect(documentOf(text).value).toMatchObject({ b: '1.50' });
  });
});

describe('a document that is not valid JSON', () => {
  test.each([
    ['', 0, 'the text ends where a value is expected'],
    ['{"a":}', 5, 'expected a value'],
    ['{"a":1,}', 7, 'expected a member name in double quotes'],
    ['{a:1}', 1, 'expected a member name in double quotes or }'],
    ['[1 2]', 3, 'expected a comma or the end of the list or object'],
    ['[1', 2, 'the text ends where a comma or the end of the list or object is expected'],
    ['{"a" 1}', 5, 'expected :'],
    ['{"a":"x', 7, 'the text ends inside a string'],
    ['{"a":"\n"}', 6, 'a control character in a string'],
    ['["\\x"]', 2, 'an invalid escape sequence'],
    ['["\\u12g4"]', 2, 'an invalid escape sequence'],
    ['[01]', 2, 'expected a comma or the end of the list or object'],
    ['[1.]', 3, 'expected a digit'],
    ['[1e]', 3, 'expected a digit'],
    ['[-]', 2, 'expected a digit'],
    ['[tru]', 1, 'expected a value or ]'],
    ['{}{}', 2, 'nothing may follow the value'],
    ['\ufeff{}', 0, 'expected a value'],
  ])('%j is rejected at position %i', (text, position, problem) => {
    expect(findJsonProblem(text)).toEqual({ position, problem });
    expect(readJson(text)).toEqual({
      member: 'body',
      problem: `is not valid JSON at position ${position}: ${problem}`,
    });
  });

  test('is rejected exactly when JSON.parse rejects it, at the same place', () => {
    const damage = fc.constantFrom(
      '',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '-',
      'e',
      '.',
      '1.50',
      ',2.0:',
      ' ',
    );
    fc.assert(
      fc.property(sourced, fc.tuple(fc.nat(), fc.nat(3), damage), ({ source }, wound) => {
        const [place, cut, inserted] = wound;
        const at = place % (source.length + 1);
        const text = source.slice(0, at) + inserted + source.slice(at + cut);
        const found = findJsonProblem(text);
        try {
          JSON.parse(text);
          expect(found).toBeNull();
          expect(readJson(text)).toHaveProperty('value');
        } catch (error) {
          expect(found).not.toBeNull();
          expect(readJson(text)).toHaveProperty('problem');
          const stated = /at position (\d+)/.exec(String(error))?.[1];
          // We point at the start of a broken `true` or escape sequence, V8 into or behind it.
          if (stated !== undefined && !text.includes('\\')) {
            const between = text.slice(found?.position ?? 0, Number(stated));
            expect(between).toMatch(/^[a-z]*$/);
            expect(Number(stated)).toBeGreaterThanOrEqual(found?.position ?? 0);
          }
        }
      }),
      { numRuns: 2000 },
    );
  });

  test.each([
    '{1.50:2}',
    '{"a":1,1.50:2}',
    '{1.50 :2}',
    '[01]',
    '[1.50.1]',
    '[1.50 1.50]',
    '["a"1.50]',
    '[tru1.50]',
    '[1.50e]',
    '[--1.50]',
    '[+1.50]',
    '[.50]',
  ])('does not become valid JSON when its numbers are put in quotes: %s', (text) => {
    expect(() => JSON.parse(text) as unknown).toThrow();
    expect(readJson(text)).toHaveProperty('problem');
  });

  test('is recognised however deep it is nested', () => {
    expect(findJsonProblem('['.repeat(200_000))?.position).toBe(200_000);
  });
});

const { depthMax: DEPTH_MAX, valuesMax: VALUES_MAX } = EVENT_JSON_LIMITS;
const excessOf = (text: string) => checkJsonLimits(text, EVENT_JSON_LIMITS);

describe('a document that costs too much to parse', () => {
  const MIB = 1024 * 1024;

  test('is rejected when it is nested too deep', () => {
    expect(readJson('['.repeat(32 * MIB))).toMatchObject({
      member: 'body',
      problem: expect.stringContaining(`more than ${DEPTH_MAX} levels`) as string,
    });
    const legal = `${'['.repeat(DEPTH_MAX)}"${'x'.repeat(MIB)}"${']'.repeat(DEPTH_MAX)}`;
    expect(excessOf(legal)).toBeNull();
    expect(excessOf(`[${legal}]`)).toBe('too_deep');
  });

  test('is rejected when it holds more values than any legal request', () => {
    const values = (count: number): string => `[${'0,'.repeat(count - 1)}0]`;
    expect(excessOf(values(VALUES_MAX))).toBeNull();
    expect(excessOf(`[${values(VALUES_MAX)}]`)).toBe('too_many_values');
    expect(excessOf(`[${'{},'.repeat(10 * MIB)}{}]`)).toBe('too_many_values');
  });

  test('is not recognised by brackets and commas inside strings', () => {
    expect(excessOf(`["${'[{,\\"'.repeat(MIB)}"]`)).toBeNull();
  });
});
