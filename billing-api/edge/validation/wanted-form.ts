import type { TsoaRoute } from '@tsoa/runtime';

/*
 * What a member of a request wants, in words that say what to send (docs/http.md 1.5).
 */

type Limit = { readonly value: number };

/** Limits of an integer or a number, as tsoa hands them on. */
export type NumberLimits = { readonly minimum?: Limit; readonly maximum?: Limit };

/** Limits of a text, as tsoa hands them on. */
export type TextLimits = {
  readonly minLength?: Limit;
  readonly maxLength?: Limit;
  readonly pattern?: { readonly value: string };
};

export const FLAG_FORM = 'true or false';
export const DATE_TIME_FORM = 'a date-time with Z or an offset, such as "2026-01-31T10:00:00Z"';

export const CURRENCY_FORM = 'the code of a currency in three letters, such as usd';

/** The pattern of `DecimalText` in `contract/wire-types.ts`. */
const DECIMAL_PATTERN = String.raw`^-?\d+(\.\d+)?$`;
const DECIMAL_FORM = 'a decimal string such as "0.25"';

/** What texts of a pattern are, in words. */
const FORMS: Readonly<Record<string, string>> = {
  [DECIMAL_PATTERN]: DECIMAL_FORM,
  '^[A-Za-z0-9_]{1,20}$': 'a text of 1 to 20 letters, digits and underscores',
  '^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$':
    'a text of 3 to 63 lower-case letters, digits, dots and hyphens that begins and ends with a letter or digit',
};

function within(name: string, { minimum, maximum }: NumberLimits): string {
  if (minimum === undefined && maximum === undefined) return name;
  if (maximum === undefined) return `${name} of at least ${minimum?.value}`;
  if (minimum === undefined) return `${name} of at most ${maximum.value}`;
  return `${name} from ${minimum.value} to ${maximum.value}`;
}

export function integerForm(limits: NumberLimits = {}): string {
  return within('an integer', limits);
}

export function numberForm(limits: NumberLimits = {}): string {
  return within('a number', limits);
}

function lengthForm({ minLength, maxLength }: TextLimits): string {
  const least = minLength?.value ?? 0;
  if (maxLength === undefined)
    return least <= 1 ? 'a text' : `a text of at least ${least} characters`;
  if (least === maxLength.value) return `a text of ${least} characters`;
  if (least === 0) return `a text of at most ${maxLength.value} characters`;
  return `a text of ${least} to ${maxLength.value} characters`;
}

function textForm(limits: TextLimits): string {
  const pattern = limits.pattern?.value;
  if (pattern === undefined) return lengthForm(limits);
  return FORMS[pattern] ?? `a text of the form ${pattern}`;
}

/** A number as its digits, where they are those that were sent. */
function digitsOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : '';
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? text : null;
}

/** Why a value is not the text that is wanted, and what to send. */
export function textProblem(value: unknown, limits: TextLimits = {}): string {
  if (value === '' && (limits.minLength?.value ?? 0) > 0) {
    return `must not be empty: send ${textForm(limits)}`;
  }
  const digits = digitsOf(value);
  const isForm = digits !== null && new RegExp(limits.pattern?.value ?? '').test(digits);
  const remedy = isForm ? `, in quotes: "${digits}"` : '';
  return `must be ${textForm(limits)}${remedy}`;
}

/** The values of an enumeration, without the empty text and null, which count as absent. */
export function enumerationForm(members: readonly (string | number | boolean | null)[]): string {
  const named = members.filter((member) => member !== '' && member !== null);
  if (named.length === 0) return members.includes(null) ? 'null' : '""';
  return named.length === 1 ? String(named[0]) : `one of ${named.join(', ')}`;
}

/** A value of a plain type; an object for everything that has members. */
export function formOfType({ dataType, validators = {} }: TsoaRoute.PropertySchema): string {
  switch (dataType) {
    case 'string':
      return textForm(validators as TextLimits);
    case 'boolean':
      return FLAG_FORM;
    case 'integer':
    case 'long':
      return integerForm(validators as NumberLimits);
    case 'float':
    case 'double':
      return numberForm(validators as NumberLimits);
    case 'array':
      return 'a list';
    case 'undefined':
      return 'left out';
    default:
      return 'an object';
  }
}
