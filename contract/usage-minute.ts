import { forEachAggregation, type AggregationFacts } from './aggregation.js';
import type { MeterDefinition } from './meter.js';
import type { InstantMs } from './instant.js';
import {
  MINUTE_VALUES,
  MINUTE_VALUE_NAMES,
  type MinuteValueName,
  type UsageCell,
} from './minute-values.js';
import { rowEncoder, type TableColumn } from './table-column.js';

/** A row of `usage_minute_v1`: what one meter, customer, minute, source and group hold. */
export type UsageMinute = {
  readonly meter: Pick<MeterDefinition, 'environment' | 'meterId' | 'generation' | 'aggregation'>;
  readonly customerKey: string;
  readonly minuteMs: InstantMs;
  readonly source: string;
  /** Text of the property that the meter groups by; empty without one and when it is missing. */
  readonly groupKey: string;
  readonly cell: UsageCell;
};

const KEY_COLUMNS: readonly TableColumn<UsageMinute>[] = [
  { name: 'tenant_id', type: 'String', encode: ({ meter }) => meter.environment.tenantId },
  {
    name: 'environment_id',
    type: 'String',
    encode: ({ meter }) => meter.environment.environmentId,
  },
  { name: 'customer_key', type: 'String', encode: ({ customerKey }) => customerKey },
  { name: 'meter_id', type: 'String', encode: ({ meter }) => meter.meterId },
  { name: 'generation', type: 'UInt64', encode: ({ meter }) => meter.generation },
  {
    name: 'minute',
    type: 'Int64',
    stored: "toDateTime64(minute, 0, 'UTC')",
    encode: ({ minuteMs }) => minuteMs / 1000,
  },
  { name: 'source', type: 'String', encode: ({ source }) => source },
  { name: 'group_key', type: 'String', encode: ({ groupKey }) => groupKey },
];

function valueColumn<Name extends MinuteValueName>(name: Name): TableColumn<UsageMinute> {
  const { column, kind } = MINUTE_VALUES[name];
  const { type, insertType = type, stored, encode } = kind;
  return {
    name: column,
    type: insertType,
    encode: ({ cell }) => encode(cell[name]),
    ...(stored === undefined ? {} : { stored: stored(column) }),
  };
}

/** The columns of an inserted row, in order. */
export const MINUTE_COLUMNS: readonly TableColumn<UsageMinute>[] = [
  ...KEY_COLUMNS,
  ...MINUTE_VALUE_NAMES.map((name) => valueColumn(name)),
];

/** An insert needs this setting, since rows may end early (`encodeMinute`). */
export const MINUTE_INSERT_SETTING =
  'SETTINGS input_format_json_compact_allow_variable_number_of_columns = 1';

function columnsOf({ values: used }: AggregationFacts): readonly TableColumn<UsageMinute>[] {
  const values = ['eventCount', ...used] as const;
  const last = Math.max(...values.map((name) => MINUTE_VALUE_NAMES.indexOf(name)));
  return MINUTE_COLUMNS.slice(0, KEY_COLUMNS.length + last + 1);
}
/**
 * Characters of one text of encoded rows; JavaScript allows 536,870,888. All rows of a batch that
 * go into one table are one text.
 */
export const ENCODED_CHARACTERS_MAX = 500_000_000;

/**
 * An encoded row has at most so many characters beside the customer, source, group and event id of
 * its events: three ids of ours, numbers, and a hash for each event of a COUNT_UNIQUE.
 */
export const MINUTE_CHARACTERS_MAX = 400;

const ENCODERS = forEachAggregation((facts) => rowEncoder(columnsOf(facts)));

/**
 * The JSON values of an inserted row, in the order of `MINUTE_COLUMNS`. The row ends after the last
 * column that its type needs, and the table fills in the rest: most meters count, and a row of
 * theirs is half as long.
 */
export function encodeMinute(minute: UsageMinute): readonly unknown[] {
  return ENCODERS[minute.meter.aggregation.type](minute);
}
