import { AGGREGATIONS, type AggregationType } from '../../../contract/aggregation.js';
import {
  addedValue,
  MINUTE_VALUE_NAMES,
  type AddedValueName,
} from '../../../contract/minute-values.js';
import type { Run } from './window-parts.js';

/** Values of a minute that a statement answers, in the order of its columns. */
export const ANSWERED_VALUES = MINUTE_VALUE_NAMES.filter((name) => name !== 'uniques');

/** A column that branches of a usage statement may answer. */
type AnswerColumn<Name> = { readonly name: Name; readonly alias: string; readonly type: string };

const OTHER_COLUMNS = [
  /** Index of the branch that answers the row; of a statement with one branch it is 0. */
  { name: 'branch', alias: 'branch', type: 'UInt32' },
  /** Which queries of the branch the row is for (`UsageBranch.queryIndexes`). */
  { name: 'query', alias: 'query', type: 'String' },
  /** Of a branch about several customers: whose usage the row holds. */
  { name: 'customer', alias: 'customer_text', type: 'String' },
  { name: 'source', alias: 'source_text', type: 'String' },
  { name: 'group', alias: 'group_text', type: 'String' },
  /** Texts of the properties that the query splits by. */
  { name: 'texts', alias: 'texts', type: 'Array(String)' },
  /** Of events: the texts that decide their value, NULL for a property that is missing. */
  { name: 'valueTexts', alias: 'value_texts', type: 'Array(Nullable(String))' },
  /** Of events: Σ milliseconds from 1970. */
  { name: 'timeSum', alias: 'time_sum', type: 'String' },
  /** Of events: timestamp, receipt and id of the latest one. */
  { name: 'latestEvent', alias: 'latest_event', type: 'Array(String)' },
  { name: 'slots', alias: 'slots', type: 'Array(Int64)' },
  /** Of everybody: the customer keys behind the row. */
  { name: 'customerKeys', alias: 'customer_keys', type: 'Array(String)' },
  { name: 'uniqueCount', alias: 'unique_counts', type: 'Array(UInt64)' },
] as const satisfies readonly AnswerColumn<string>[];
export type AnswerName = (typeof OTHER_COLUMNS)[number]['name'] | AddedValueName;

function valueColumn(name: AddedValueName): AnswerColumn<AnswerName> {
  const { column, kind } = addedValue(name);
  return { name, alias: `answered_${column}`, type: `Array(${kind.read?.type ?? kind.type})` };
}

/** The columns of a row; a value has a place for every slot, or none where it is not needed. */
export const ANSWER_COLUMNS: readonly AnswerColumn<AnswerName>[] = [
  ...OTHER_COLUMNS,
  ...ANSWERED_VALUES.map((name) => valueColumn(name)),
];

/** SQL of the columns that a branch fills. */
export type AnswerSql = { readonly [Name in AnswerName]?: string };

/** The columns that at least one branch of a statement fills, in their order. */
export function columnsFilledBy(branches: readonly AnswerSql[]): readonly AnswerName[] {
  const isFilled = (name: AnswerName): boolean => branches.some((filled) => name in filled);
  return ANSWER_COLUMNS.map(({ name }) => name).filter(isFilled);
}

/**
 * These columns of a SELECT. Those that another branch fills are constants here; what no branch
 * fills is left out, since the server prepares each column anew for every statement (measured in
 * docs/internals/measurements.md).
 */
export function answerColumns(names: readonly AnswerName[], filled: AnswerSql): string {
  return ANSWER_COLUMNS.filter(({ name }) => names.includes(name))
    .map(({ name, alias, type }) => {
      const empty = type === 'String' ? `''` : `CAST([], '${type}')`;
      return `${filled[name] ?? empty} AS ${alias}`;
    })
    .join(',\n  ');
}

/** Of a minute, in milliseconds, as slots are. */
export const MINUTE_INSTANT = 'toInt64(u.minute) * 1000';

/** Of an event, in milliseconds. */
export const EVENT_INSTANT = 'toUnixTimestamp64Milli(e.timestamp)';

/** The values that minutes of a type are read for. */
export function minuteValuesOf(type: AggregationType): readonly AddedValueName[] {
  const { values } = AGGREGATIONS[type];
  return ANSWERED_VALUES.filter((name) => name === 'eventCount' || values.includes(name));
}

function mergedValue(name: AddedValueName): string {
  const { column, merge, inWindow } = addedValue(name);
  return `${merge}(${inWindow?.(MINUTE_INSTANT) ?? column})`;
}

function answerOf(name: AddedValueName, merged: string): string {
  return addedValue(name).kind.read?.answer(merged) ?? merged;
}

/** One column for each value of a type. */
function eachValue(type: AggregationType, sqlOf: (name: AddedValueName) => string): AnswerSql {
  return Object.fromEntries(minuteValuesOf(type).map((name) => [name, sqlOf(name)]));
}

/** The values of a whole stretch, as one slot that is called 0. */
export function stretchColumns(type: AggregationType): AnswerSql {
  const values = eachValue(type, (name) => `[${answerOf(name, mergedValue(name))}]`);
  return { slots: '[toInt64(0)]', ...values };
}

/** Lists of the values of slots, which an inner SELECT has merged (`slotValues`). */
export function slotColumns(type: AggregationType): AnswerSql {
  const values = eachValue(type, (name) => {
    const { column } = addedValue(name);
    return `groupArray(${answerOf(name, `u.slot_${column}`)})`;
  });
  return { slots: 'groupArray(u.slot_ms)', ...values };
}

/** The values of one slot, merged. */
export function slotValues(type: AggregationType): string {
  return minuteValuesOf(type)
    .map((name) => `,\n    ${mergedValue(name)} AS slot_${addedValue(name).column}`)
    .join('');
}

/** Counts alone, one for every slot of a run; `place` says which slot a minute is in. */
export function countColumns([, , count]: Run, place: string): AnswerSql {
  return { eventCount: `sumResample(0, ${count}, 1)(event_count, ${place})` };
}
