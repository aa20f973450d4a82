import { Decimal } from '../../../../contract/number/decimal.js';
import { Money } from '../../money/money.js';

/** What `JSON.parse` returns. */
export type JsonValue =
  null | boolean | number | string | readonly JsonValue[] | { readonly [name: string]: JsonValue };

/**
 * Names of what JSON has no form for. `decimals`, `lists` and `rows` hold long lists by column: a
 * month of minutes has 43,200 windows.
 */
export const FORM = {
  decimal: '$decimal',
  decimals: '$decimals',
  lists: '$lists',
  map: '$map',
  money: '$money',
  object: '$object',
  rows: '$rows',
  same: '$same',
  unbounded: '$unbounded',
} as const;

/** Shorter lists are written element by element. */
const COLUMNS_FROM = 4;

type PlainObject = Readonly<Record<string, unknown>>;

export function isPlainObject(value: unknown): value is PlainObject {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function encodeNumber(value: number): JsonValue {
  if (Number.isFinite(value)) return value;
  if (Number.isNaN(value)) throw new TypeError('NaN has no form in a snapshot');
  return { [FORM.unbounded]: value > 0 ? 1 : -1 };
}

function encodeObject(value: PlainObject): JsonValue {
  const members = Object.entries(value).map(([name, of]) => [name, encodeValue(of)] as const);
  const isAmbiguous = members.some(([name]) => name.startsWith('$'));
  return isAmbiguous ? { [FORM.object]: members } : Object.fromEntries(members);
}

/** The names of all objects of a list, when all have the same in the same order; else null. */
function commonNames(values: readonly unknown[]): readonly string[] | null {
  const [first] = values;
  if (!isPlainObject(first)) return null;
  const names = Object.keys(first);
  const hasThem = (value: unknown): boolean => {
    if (!isPlainObject(value)) return false;
    const own = Object.keys(value);
    return own.length === names.length && own.every((name, index) => name === names[index]);
  };
  return values.every(hasThem) ? names : null;
}

function encodeRows(values: readonly unknown[], names: readonly string[]): JsonValue {
  const columns = names.map((name) => {
    const column = values.map((value) => (isPlainObject(value) ? value[name] : null));
    return [name, encodeList(column)] as const;
  });
  return { [FORM.rows]: [values.length, columns] };
}

function encodeLists(values: readonly (readonly unknown[])[]): JsonValue {
  return {
    [FORM.lists]: [encodeList(values.map(({ length }) => length)), encodeList(values.flat())],
  };
}

function isDecimal(value: unknown): value is Decimal {
  return value instanceof Decimal;
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function encodeLongList(values: readonly unknown[]): JsonValue {
  const [first] = values;
  const isScalar = typeof first !== 'object' || first === null;
  if (isScalar && values.every((value) => Object.is(value, first))) {
    return { [FORM.same]: [values.length, encodeValue(first)] };
  }
  if (values.every(isDecimal)) return { [FORM.decimals]: values.map((value) => value.toFixed()) };
  if (values.every(isList)) return encodeLists(values);
  const names = commonNames(values);
  return names === null ? values.map(encodeValue) : encodeRows(values, names);
}

function encodeList(values: readonly unknown[]): JsonValue {
  return values.length < COLUMNS_FROM ? values.map(encodeValue) : encodeLongList(values);
}

/**
 * A value as JSON without loss: decimals with all digits, amounts of money with their currency,
 * maps, and instants without a bound. `decodeValue` returns an equal value.
 * @throws TypeError for what has no form: undefined, NaN, functions, other classes.
 */
export function encodeValue(value: unknown): JsonValue {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return encodeNumber(value);
  if (isDecimal(value)) return { [FORM.decimal]: value.toFixed() };
  if (value instanceof Money) return { [FORM.money]: [value.value.toFixed(), value.currency] };
  if (isList(value)) return encodeList(value);
  if (value instanceof Map) return { [FORM.map]: encodeList([...value]) };
  if (isPlainObject(value)) return encodeObject(value);
  throw new TypeError(`a ${typeof value} has no form in a snapshot`);
}
