import { Decimal } from '../../../../contract/number/decimal.js';
import { Money } from '../../money/money.js';
import { FORM, type JsonValue } from './encode-value.js';

type Decode = (content: JsonValue) => unknown;

function listOf(content: JsonValue | undefined): readonly JsonValue[] {
  if (!Array.isArray(content)) throw new TypeError('a snapshot has a list in no form');
  // Array.isArray does not narrow a readonly list.
  return content as readonly JsonValue[];
}

function textOf(content: JsonValue | undefined): string {
  if (typeof content !== 'string') throw new TypeError('a snapshot has a text in no form');
  return content;
}

function countOf(content: JsonValue | undefined): number {
  if (typeof content !== 'number') throw new TypeError('a snapshot has a number in no form');
  return content;
}

function decodeList(content: JsonValue | undefined): readonly unknown[] {
  const decoded = content === undefined ? null : decodeValue(content);
  if (!Array.isArray(decoded)) throw new TypeError('a snapshot has a list in no form');
  return decoded as readonly unknown[];
}

function decodeRows(content: JsonValue): readonly unknown[] {
  const [count, columns] = listOf(content);
  const decoded = listOf(columns).map((column) => {
    const [name, values] = listOf(column);
    return [textOf(name), decodeList(values)] as const;
  });
  return Array.from({ length: countOf(count) }, (_, row) =>
    Object.fromEntries(decoded.map(([name, values]) => [name, values[row]])),
  );
}

function decodeLists(content: JsonValue): readonly unknown[] {
  const [lengths, flat] = listOf(content);
  const values = decodeList(flat);
  let from = 0;
  return decodeList(lengths).map((length) => {
    const part = values.slice(from, from + Number(length));
    from += Number(length);
    return part;
  });
}

function decodeSame(content: JsonValue): readonly unknown[] {
  const [count, value] = listOf(content);
  return Array.from({ length: countOf(count) }, () => decodeValue(value ?? null));
}

function decodeMembers(content: JsonValue): object {
  const members = listOf(content).map((member) => {
    const [name, value] = listOf(member);
    return [textOf(name), decodeValue(value ?? null)] as const;
  });
  return Object.fromEntries(members);
}

function decodeMap(content: JsonValue): ReadonlyMap<unknown, unknown> {
  const entries = decodeList(content) as readonly (readonly [unknown, unknown])[];
  return new Map(entries);
}

function decodeMoney(content: JsonValue): Money {
  const [digits, currency] = listOf(content);
  return new Money(new Decimal(textOf(digits)), textOf(currency));
}

const DECODE: Readonly<Record<string, Decode>> = {
  [FORM.decimal]: (content) => new Decimal(textOf(content)),
  [FORM.decimals]: (content) => listOf(content).map((text) => new Decimal(textOf(text))),
  [FORM.lists]: decodeLists,
  [FORM.map]: decodeMap,
  [FORM.money]: decodeMoney,
  [FORM.object]: decodeMembers,
  [FORM.rows]: decodeRows,
  [FORM.same]: decodeSame,
  [FORM.unbounded]: (content) => countOf(content) * Infinity,
};

/**
 * The value that `encodeValue` wrote.
 * @throws TypeError for JSON that it does not write.
 */
export function decodeValue(content: JsonValue): unknown {
  if (content === null || typeof content !== 'object') return content;
  if (Array.isArray(content)) return listOf(content).map(decodeValue);
  const members = Object.entries(content);
  const [only] = members;
  if (only?.[0].startsWith('$') !== true) {
    return Object.fromEntries(members.map(([name, value]) => [name, decodeValue(value)]));
  }
  const decode = DECODE[only[0]];
  if (decode === undefined || members.length > 1) {
    throw new TypeError(`a snapshot has the unknown form ${only[0]}`);
  }
  return decode(only[1]);
}
