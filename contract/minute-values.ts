import { Decimal, maxOf, minOf, plain, ZERO } from './number/decimal.js';
import type { InstantMs } from './instant.js';

/** The order of LATEST: timestamp, then receipt, then event id (docs/domain.md 7.5). */
export type EventPlace = {
  readonly atMs: InstantMs;
  readonly receivedMs: InstantMs;
  readonly eventId: string;
};
export type Latest = EventPlace & { readonly value: Decimal };

/**
 * What a minute holds of one meter, customer, source and group, so that any longer window is read
 * from minutes. Filled only as far as the meter's type needs (`AGGREGATIONS`); mutable, since an
 * event costs one addition. Each member is a column of `usage_minute_v1` (`MINUTE_VALUES`).
 */
export type UsageCell = {
  eventCount: number;
  /** Events whose value could not be read (`EventValue.isUnreadable`). */
  unreadableCount: number;
  valueSum: Decimal;
  /** Σ value × milliseconds from the start of the minute. */
  valueTimeSum: Decimal;
  /** Greatest value. Values of a MAX are never negative, so 0 stands for none. */
  valueMax: Decimal;
  latest: Latest | null;
  /** Hashes of the texts. */
  readonly uniques: Set<string>;
  /** Least value that could be read; null for none, since 0 is a value. */
  valueMin: Decimal | null;
};
export type MinuteValueName = keyof UsageCell;
/** Values that add up over any minutes; of texts only the number of different ones is read. */
export type AddedValueName = Exclude<MinuteValueName, 'uniques'>;
export type AddedValues = Pick<UsageCell, AddedValueName>;

/** Events with the same value texts; the live stream has tallies of one. */
export type EventTally = {
  readonly texts: readonly (string | null)[];
  readonly count: number;
  /** Σ milliseconds from the start of the minute to the event. */
  readonly timeSumMs: number | bigint;
  /** The greatest place among them. */
  readonly place: EventPlace;
};
/** A tally whose texts have been read. */
export type ValuedTally = EventTally & {
  readonly value: Decimal;
  readonly isUnreadable: boolean;
  readonly unique: string | null;
};

/** Shared by all cells that need no set: a set of its own would double the memory of a cell. */
const NO_UNIQUES: Set<string> = new Set<string>();

/** The values of no events. */
export const NO_VALUES: Readonly<AddedValues> = {
  eventCount: 0,
  unreadableCount: 0,
  valueSum: ZERO,
  valueTimeSum: ZERO,
  valueMax: ZERO,
  latest: null,
  valueMin: null,
};

/**
 * A cell without events. Without uniques it may not be filled with texts. Each member is named,
 * since a batch makes a cell for nearly every event: a copy of `NO_VALUES` takes ten times as long
 * and three times the memory, because V8 gives every such copy a hidden class of its own.
 */
export function emptyUsageCell(needs: { readonly uniques: boolean }): UsageCell {
  return {
    eventCount: 0,
    unreadableCount: 0,
    valueSum: ZERO,
    valueTimeSum: ZERO,
    valueMax: ZERO,
    latest: null,
    uniques: needs.uniques ? new Set() : NO_UNIQUES,
    valueMin: null,
  };
}

/** Types in which a statement answers merged values. */
export type AnswerType = 'UInt64' | 'String' | 'Array(String)';

/** How values of one kind are inserted into ClickHouse, and how they are read from it. */
type ValueKind<Value> = {
  /** Type of the column, inside the aggregate function that merges it. */
  readonly type: string;
  /** The type of the encoded value, where it is another one, and the SQL that stores it. */
  readonly insertType?: string;
  readonly stored?: (encoded: string) => string;
  readonly encode: (value: Value) => unknown;
  /** How a merged value is answered; null when only its size is. */
  readonly read: {
    readonly type: AnswerType;
    readonly answer: (merged: string) => string;
    /** The value of an answer; undefined when the answer has another type. */
    readonly decode: (answer: unknown) => Value | undefined;
  } | null;
};

/** A column of a minute. */
export type MinuteValue<Value> = {
  /** Name of the column. */
  readonly column: string;
  /** Aggregate function that merges values of several rows, in the table and in a statement. */
  readonly merge: string;
  /** Does the same here; null where the server alone does it. */
  readonly combine: ((left: Value, right: Value) => Value) | null;
  readonly kind: ValueKind<Value>;
  /**
   * SQL of what the row of a minute adds to a longer window, where this is not its column. It is
   * given the milliseconds from 1970 to the minute.
   */
  readonly inWindow?: (minuteMs: string) => string;
  /** Adds events to a cell; null for the counts that every cell has. */
  readonly add: ((cell: UsageCell, tally: ValuedTally) => void) | null;
};

/** JSON numbers beyond 2^53 arrive rounded, and are not safe integers. */
const COUNT: ValueKind<number> = {
  type: 'UInt64',
  encode: (count) => count,
  read: {
    type: 'UInt64',
    answer: (merged) => merged,
    decode: (answer) =>
      typeof answer === 'number' && Number.isSafeInteger(answer) ? answer : undefined,
  },
};
const DECIMAL: ValueKind<Decimal> = {
  type: 'Decimal(76, 18)',
  encode: plain,
  read: {
    type: 'String',
    answer: (merged) => `toString(${merged})`,
    decode: (answer) => (typeof answer === 'string' ? new Decimal(answer) : undefined),
  },
};

/** NULL stands for no value: the function `min` passes over it, in the table as in a statement. */
const DECIMAL_OR_NONE: ValueKind<Decimal | null> = {
  type: 'Nullable(Decimal(76, 18))',
  encode: (value) => (value === null ? null : plain(value)),
  read: {
    type: 'String',
    answer: (merged) => `ifNull(toString(${merged}), '')`,
    decode: (answer) => {
      if (typeof answer !== 'string') return undefined;
      return answer === '' ? null : new Decimal(answer);
    },
  },
};

/** Texts of instant, receipt, id and value; the id is empty when there is no event. */
function decodeLatest(answer: unknown): Latest | null | undefined {
  if (!Array.isArray(answer) || !answer.every((text) => typeof text === 'string')) return undefined;
  const [atMs, receivedMs, eventId, value] = answer;
  if (eventId === undefined || value === undefined) return undefined;
  if (eventId === '') return null;
  return { atMs: Number(atMs), receivedMs: Number(receivedMs), eventId, value: new Decimal(value) };
}
const LATEST: ValueKind<Latest | null> = {
  type: 'Tuple(at_ms Int64, received_ms Int64, event_id String, value Decimal(76, 18))',
  insertType: 'Tuple(Int64, Int64, String, Decimal(76, 18))',
  encode: (latest) =>
    latest === null
      ? [0, 0, '', '0']
      : [latest.atMs, latest.receivedMs, latest.eventId, plain(latest.value)],
  read: {
    type: 'Array(String)',
    answer: (merged) => {
      const text = (member: string): string => `toString(tupleElement(${merged}, '${member}'))`;
      return `[${['at_ms', 'received_ms', 'event_id', 'value'].map(text).join(', ')}]`;
    },
    decode: decodeLatest,
  },
};
const HASHES: ValueKind<Set<string>> = {
  type: 'Array(FixedString(16))',
  insertType: 'Array(String)',
  stored: (encoded) => `arrayMap(text -> toFixedString(unhex(text), 16), ${encoded})`,
  // Sorted, so that the bytes do not depend on the order in which texts appeared.
  encode: (hashes) => [...hashes].sort(),
  read: null,
};

/**
 * Compares texts by code points, which is the order of their UTF-8 bytes and so ClickHouse's. The
 * language compares UTF-16 units, which differs once a text leaves the basic plane.
 */
function compareByCodePoints(left: string, right: string): number {
  const [one, other] = [left[Symbol.iterator](), right[Symbol.iterator]()];
  for (;;) {
    const [a, b] = [one.next(), other.next()];
    if (a.done === true || b.done === true)
      return Number(a.done !== true) - Number(b.done !== true);
    const difference = (a.value.codePointAt(0) ?? 0) - (b.value.codePointAt(0) ?? 0);
    if (difference !== 0) return difference;
  }
}

/** Whether the left event is the later one: by timestamp, then receipt, then id. */
export function isLater(left: EventPlace, right: EventPlace): boolean {
  const difference = left.atMs - right.atMs || left.receivedMs - right.receivedMs;
  return (difference || compareByCodePoints(left.eventId, right.eventId)) > 0;
}

function laterOf(left: Latest | null, right: Latest | null): Latest | null {
  if (left === null || right === null) return left ?? right;
  return isLater(right, left) ? right : left;
}

function leastOf(left: Decimal | null, right: Decimal | null): Decimal | null {
  return left === null || right === null ? (left ?? right) : minOf(left, right);
}

/** How rows are merged, and what they hold. */
type MergedKind<Value> = Pick<MinuteValue<Value>, 'merge' | 'combine' | 'kind'>;
const SUM_OF_COUNTS: MergedKind<number> = {
  merge: 'sum',
  combine: (left, right) => left + right,
  kind: COUNT,
};
const SUM_OF_DECIMALS: MergedKind<Decimal> = {
  merge: 'sum',
  combine: (left, right) => left.plus(right),
  kind: DECIMAL,
};
const GREATEST_DECIMAL: MergedKind<Decimal> = { merge: 'max', combine: maxOf, kind: DECIMAL };
const LEAST_DECIMAL: MergedKind<Decimal | null> = {
  merge: 'min',
  combine: leastOf,
  kind: DECIMAL_OR_NONE,
};
const LATEST_VALUE: MergedKind<Latest | null> = { merge: 'max', combine: laterOf, kind: LATEST };
const ALL_HASHES: MergedKind<Set<string>> = {
  merge: 'groupUniqArrayArray',
  combine: null,
  kind: HASHES,
};

/**
 * The columns of a minute beside its key, in the order of an encoded row. A new one goes to the
 * end: rows of the other types stay as they are, byte for byte (`FOLD_VERSION`).
 */
export const MINUTE_VALUES: { readonly [Name in MinuteValueName]: MinuteValue<UsageCell[Name]> } = {
  eventCount: { ...SUM_OF_COUNTS, column: 'event_count', add: null },
  unreadableCount: { ...SUM_OF_COUNTS, column: 'unreadable_count', add: null },
  valueSum: {
    ...SUM_OF_DECIMALS,
    column: 'value_sum',
    add: (cell, { value, count }) => {
      cell.valueSum = cell.valueSum.plus(count === 1 ? value : value.times(count));
    },
  },
  valueTimeSum: {
    ...SUM_OF_DECIMALS,
    column: 'value_time_sum',
    // A minute counts from its own start, a window from 1970.
    inWindow: (minuteMs) => `value_sum * (${minuteMs}) + value_time_sum`,
    add: (cell, { value, timeSumMs }) => {
      cell.valueTimeSum = cell.valueTimeSum.plus(value.times(new Decimal(String(timeSumMs))));
    },
  },
  valueMax: {
    ...GREATEST_DECIMAL,
    column: 'value_max',
    add: (cell, { value }) => {
      cell.valueMax = maxOf(cell.valueMax, value);
    },
  },
  latest: {
    ...LATEST_VALUE,
    column: 'latest',
    add: (cell, { place, value }) => {
      if (cell.latest !== null && !isLater(place, cell.latest)) return;
      const { atMs, receivedMs, eventId } = place;
      cell.latest = { atMs, receivedMs, eventId, value };
    },
  },
  uniques: {
    ...ALL_HASHES,
    column: 'uniques',
    add: (cell, { unique }) => {
      if (unique !== null) cell.uniques.add(unique);
    },
  },
  valueMin: {
    ...LEAST_DECIMAL,
    column: 'value_min',
    add: (cell, { value, isUnreadable }) => {
      if (!isUnreadable) cell.valueMin = leastOf(cell.valueMin, value);
    },
  },
};
const ADDED_VALUES: { readonly [Name in AddedValueName]: MinuteValue<AddedValues[Name]> } =
  MINUTE_VALUES;

/** The column of a value that adds up. */
export function addedValue<Name extends AddedValueName>(
  name: Name,
): MinuteValue<AddedValues[Name]> {
  return ADDED_VALUES[name];
}

/** The names of the values, in the order of an encoded row. */
export const MINUTE_VALUE_NAMES = Object.keys(MINUTE_VALUES) as readonly MinuteValueName[];
