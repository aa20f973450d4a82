import type { BatchTable } from '../fold/encode-rows.js';

/**
 * Column name, type of the encoded value, and the expression stored (the value itself when absent).
 */
type Column = readonly [name: string, type: string, expression?: string];
type Form = {
  readonly table: string;
  readonly columns: readonly Column[];
  /** Settings of the format. */
  readonly settings?: string;
};

const milliseconds = (name: string): Column => [
  name,
  'Int64',
  `fromUnixTimestamp64Milli(${name}, 'UTC')`,
];

const DECIMAL = 'Decimal(76, 18)';

/** One entry a table; columns in the order in which `encodeBatch` writes them. */
const FORMS: Readonly<Record<BatchTable, Form>> = {
  events: {
    table: 'events_v1',
    columns: [
      ['tenant_id', 'String'],
      ['environment_id', 'String'],
      ['event_name', 'String'],
      ['customer_key', 'String'],
      milliseconds('timestamp'),
      ['event_id', 'String'],
      ['customer_id', 'Nullable(String)'],
      ['source', 'String'],
      ['properties', 'Map(String, String)'],
      milliseconds('received_at'),
      ['is_timestamp_given', 'Bool'],
      ['log_id', 'String'],
      ['log_partition', 'UInt32'],
      ['log_offset', 'UInt64'],
      ['record_index', 'UInt32'],
      milliseconds('appended_at'),
    ],
  },
  ids: {
    table: 'event_ids_v1',
    columns: [
      ['log_id', 'String'],
      ['log_partition', 'UInt32'],
      ['id_hash', 'String', 'toFixedString(unhex(id_hash), 16)'],
      ['log_offset', 'UInt64'],
      ['record_index', 'UInt32'],
      ['payload_hash', 'String', 'toFixedString(unhex(payload_hash), 8)'],
      milliseconds('timestamp'),
      ['is_timestamp_given', 'Bool'],
      milliseconds('appended_at'),
    ],
  },
  usage: {
    table: 'usage_minute_v1',
    settings: 'SETTINGS input_format_json_compact_allow_variable_number_of_columns = 1',
    columns: [
      ['tenant_id', 'String'],
      ['environment_id', 'String'],
      ['customer_key', 'String'],
      ['meter_id', 'String'],
      ['generation', 'UInt64'],
      ['minute', 'Int64', "toDateTime64(minute, 0, 'UTC')"],
      ['source', 'String'],
      ['group_key', 'String'],
      ['event_count', 'UInt64'],
      // From here on a row may end early: columns that its meter does not need stay 0 or empty.
      ['unreadable_count', 'UInt64'],
      ['value_sum', DECIMAL],
      ['value_time_sum', DECIMAL],
      ['value_max', DECIMAL],
      ['latest', `Tuple(Int64, Int64, String, ${DECIMAL})`],
      ['uniques', 'Array(String)', 'arrayMap(text -> toFixedString(unhex(text), 16), uniques)'],
    ],
  },
  repeats: {
    table: 'event_duplicates_v1',
    columns: [
      ['log_id', 'String'],
      ['log_partition', 'UInt32'],
      ['log_offset', 'UInt64'],
      ['record_index', 'UInt32'],
      ['tenant_id', 'String'],
      ['environment_id', 'String'],
      ['event_id', 'String'],
      ['is_conflict', 'Bool'],
      ['payload', 'String'],
      milliseconds('received_at'),
      milliseconds('appended_at'),
    ],
  },
  deadLetters: {
    table: 'dead_letters_v1',
    columns: [
      ['log_id', 'String'],
      ['log_partition', 'UInt32'],
      ['log_offset', 'UInt64'],
      ['reason', 'String'],
      ['payload', 'String'],
      milliseconds('appended_at'),
    ],
  },
};

const GATE = `WHERE throwIf((SELECT max(epoch) FROM ingest_gate_v1
  WHERE log_id = {gate_log_id:String} AND log_partition = {gate_partition:UInt32}
  ) != {gate_epoch:UInt64}) = 0`;

function insertOf({ table, columns, settings = '' }: Form, condition: string): string {
  const names = columns.map(([name]) => name).join(', ');
  const structure = columns.map(([name, type]) => `${name} ${type}`).join(', ');
  const expressions = columns.map(([name, , expression]) => expression ?? name).join(', ');
  return `INSERT INTO ${table} (${names})
    SELECT ${expressions} FROM input('${structure}')
    ${condition}
    ${settings}
    FORMAT JSONCompactEachRow`;
}

const INSERTS: Readonly<Record<BatchTable, string>> = {
  events: insertOf(FORMS.events, GATE),
  ids: insertOf(FORMS.ids, GATE),
  usage: insertOf(FORMS.usage, GATE),
  repeats: insertOf(FORMS.repeats, GATE),
  deadLetters: insertOf(FORMS.deadLetters, GATE),
};

/** Usage rows of a backfill (`encodeDeltas`): its generation is its own, so nothing fences it. */
export const BACKFILL_INSERT = insertOf(FORMS.usage, '');

/**
 * The insert statement of a table, gated: it refuses itself (code 395) when the gate of its
 * partition stands at another epoch than `gate_epoch`, so a request that starts late can do no
 * harm.
 */
export function insertStatement(table: BatchTable): string {
  return INSERTS[table];
}
