import { isDigit } from '../../contract/json-string-end.js';

/** Where a text stops being valid JSON, in UTF-16 code units, and what is wrong there. */
export type JsonProblem = { readonly position: number; readonly problem: string };

type Expectation = 'value' | 'value_or_end' | 'name' | 'name_or_end' | 'colon' | 'comma_or_end';

const EXPECTED: Readonly<Record<Expectation, string>> = {
  value: 'a value',
  value_or_end: 'a value or ]',
  name: 'a member name in double quotes',
  name_or_end: 'a member name in double quotes or }',
  colon: ':',
  comma_or_end: 'a comma or the end of the list or object',
};

const HEX = /^[0-9a-fA-F]{4}$/;

/** The index after the string, or the problem in it. */
function stringEnd(text: string, start: number): number | JsonProblem {
  let index = start + 1;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === 0x22) return index + 1;
    if (code < 0x20) return { position: index, problem: 'a control character in a string' };
    if (code === 0x5c) {
      const escape = text.charAt(index + 1);
      const isEscape =
        escape === 'u' ? HEX.test(text.slice(index + 2, index + 6)) : '"\\/bfnrt'.includes(escape);
      if (escape === '' || !isEscape)
        return { position: index, problem: 'an invalid escape sequence' };
      index += escape === 'u' ? 6 : 2;
    } else {
      index += 1;
    }
  }
  return { position: text.length, problem: 'the text ends inside a string' };
}

function digitsEnd(text: string, start: number): number {
  let index = start;
  while (isDigit(text.charCodeAt(index))) index += 1;
  return index;
}

/** The index after one or more digits, or the place where the first digit is missing. */
function someDigitsEnd(text: string, start: number): number | JsonProblem {
  const end = digitsEnd(text, start);
  return end === start ? { position: end, problem: 'expected a digit' } : end;
}

function integerEnd(text: string, start: number): number | JsonProblem {
  const digits = text.charAt(start) === '-' ? start + 1 : start;
  return text.charAt(digits) === '0' ? digits + 1 : someDigitsEnd(text, digits);
}

function exponentEnd(text: string, start: number): number | JsonProblem {
  if (text.charAt(start).toLowerCase() !== 'e') return start;
  const sign = text.charAt(start + 1);
  return someDigitsEnd(text, start + (sign === '+' || sign === '-' ? 2 : 1));
}

/** The index after the number, or the place where a digit is missing. */
function numberEnd(text: string, start: number): number | JsonProblem {
  const integer = integerEnd(text, start);
  if (typeof integer !== 'number') return integer;
  const fraction = text.charAt(integer) === '.' ? someDigitsEnd(text, integer + 1) : integer;
  return typeof fraction === 'number' ? exponentEnd(text, fraction) : fraction;
}

function literalEnd(text: string, start: number): number | null {
  for (const literal of ['true', 'false', 'null']) {
    if (text.startsWith(literal, start)) return start + literal.length;
  }
  return null;
}

function blankEnd(text: string, start: number): number {
  let index = start;
  while (index < text.length && ' \t\n\r'.includes(text.charAt(index))) index += 1;
  return index;
}

/** The index after the scalar, the problem in it, or null when no scalar begins here. */
function scalarEnd(text: string, start: number): number | JsonProblem | null {
  const first = text.charAt(start);
  if (first === '"') return stringEnd(text, start);
  if (first === '-' || isDigit(text.charCodeAt(start))) return numberEnd(text, start);
  return literalEnd(text, start);
}

/** What may come next, and the opening bracket of the innermost open container. */
type State = { readonly expected: Expectation; readonly container: string | undefined };

/** One token: where it ends and what may follow it. */
type Token = {
  readonly end: number;
  readonly next: Expectation;
  readonly bracket?: 'opened' | 'closed';
};

function structureToken(text: string, index: number, state: State): Token | null {
  const character = text.charAt(index);
  const end = index + 1;
  if (state.expected === 'colon') return character === ':' ? { end, next: 'value' } : null;
  const closing = state.container === '{' ? '}' : ']';
  if (state.expected.endsWith('_or_end') && character === closing) {
    return { end, next: 'comma_or_end', bracket: 'closed' };
  }
  if (state.expected !== 'comma_or_end' || character !== ',') return null;
  return { end, next: state.container === '{' ? 'name' : 'value' };
}

function nameToken(text: string, index: number): Token | JsonProblem | null {
  if (text.charAt(index) !== '"') return null;
  const end = stringEnd(text, index);
  return typeof end === 'number' ? { end, next: 'colon' } : end;
}

function valueToken(text: string, index: number): Token | JsonProblem | null {
  const character = text.charAt(index);
  if (character === '{' || character === '[') {
    const next = character === '{' ? 'name_or_end' : 'value_or_end';
    return { end: index + 1, next, bracket: 'opened' };
  }
  const end = scalarEnd(text, index);
  return typeof end === 'number' ? { end, next: 'comma_or_end' } : end;
}

function contentToken(text: string, index: number, state: State): Token | JsonProblem | null {
  switch (state.expected) {
    case 'name':
    case 'name_or_end':
      return nameToken(text, index);
    case 'value':
    case 'value_or_end':
      return valueToken(text, index);
    case 'colon':
    case 'comma_or_end':
      return null;
  }
}

function unexpected(text: string, index: number, state: State): JsonProblem {
  const expected = EXPECTED[state.expected];
  const isEnd = index >= text.length;
  const problem = isEnd ? `the text ends where ${expected} is expected` : `expected ${expected}`;
  return { position: index, problem };
}

/**
 * The first place where a text is not valid JSON; `null` when it is valid. Called only after
 * `JSON.parse` has failed, whose own message gives the position of some mistakes only and changes
 * with the version of Node. Linear and without recursion.
 */
export function findJsonProblem(text: string): JsonProblem | null {
  const open: string[] = [];
  let expected: Expectation = 'value';
  let index = blankEnd(text, 0);
  do {
    const state: State = { expected, container: open.at(-1) };
    const token = structureToken(text, index, state) ?? contentToken(text, index, state);
    if (token === null) return unexpected(text, index, state);
    if ('problem' in token) return token;
    if (token.bracket === 'opened') open.push(text.charAt(index));
    if (token.bracket === 'closed') open.pop();
    expected = token.next;
    index = blankEnd(text, token.end);
  } while (open.length > 0 || expected !== 'comma_or_end');
  return index === text.length
    ? null
    : { position: index, problem: 'nothing may follow the value' };
}
