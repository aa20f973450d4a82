import type { ClickHouseSettings } from '@clickhouse/client';

/**
 * For every request, whatever the profile of the user says. 64-bit integers and decimals arrive as
 * text, so that no digit is lost; date-times as ISO texts with `Z`. Since 26.2 the server would
 * gather inserts by itself (async_insert), which breaks the order of acknowledgement and effect.
 */
export const SETTINGS: ClickHouseSettings = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  date_time_output_format: 'iso',
  date_time_input_format: 'best_effort',
  async_insert: 0,
};

/**
 * A limit of the profile ends a statement with an error, and never with a part of its rows; and
 * what was written meanwhile is read.
 */
export const WHOLE_ANSWERS: ClickHouseSettings = {
  read_overflow_mode: 'throw',
  read_overflow_mode_leaf: 'throw',
  group_by_overflow_mode: 'throw',
  sort_overflow_mode: 'throw',
  result_overflow_mode: 'throw',
  set_overflow_mode: 'throw',
  join_overflow_mode: 'throw',
  distinct_overflow_mode: 'throw',
  transfer_overflow_mode: 'throw',
  timeout_overflow_mode: 'throw',
  timeout_overflow_mode_leaf: 'throw',
  limit: '0',
  offset: '0',
  use_query_cache: 0,
};

/**
 * For inserts that must be one block, thus one part and all or nothing: rows are read in one
 * thread into one block of up to so many rows, without a bound in bytes. The answer waits for the
 * end, so that a status 200 cannot precede a failure.
 */
const oneBlock = (rowsMax: number): ClickHouseSettings => ({
  wait_end_of_query: 1,
  send_progress_in_http_headers: 0,
  input_format_parallel_parsing: 0,
  max_threads: 1,
  max_insert_threads: '1',
  max_insert_block_size: String(rowsMax),
  min_insert_block_size_rows: String(rowsMax),
  min_insert_block_size_bytes: '0',
  // A profile of the server may bound blocks by bytes.
  max_insert_block_size_bytes: '0',
  input_format_max_block_size_bytes: '0',
  use_strict_insert_block_limits: 0,
});

/**
 * The rows of an insert are those that were sent, all of them or none: nothing is written of a
 * body that was cut off, no spoilt row is left out, and equal rows are written as often as they
 * are sent.
 */
const AS_SENT = {
  input_format_connection_handling: 0,
  input_format_max_block_wait_ms: '0',
  input_format_allow_errors_num: '0',
  input_format_allow_errors_ratio: 0,
  insert_deduplicate: 0,
  // Since 26.2 these two decide, and are on by default.
  deduplicate_insert: 'disable',
  deduplicate_insert_select: 'disable',
  // An insert that was applied before is refused by a code of its own.
  allow_custom_error_code_in_throwif: 1,
} as const;

/** The settings of an insert as one block. Not every server knows all of them. */
export function insertSettings(rowsMax: number): ClickHouseSettings {
  return { ...WHOLE_ANSWERS, ...oneBlock(rowsMax), ...AS_SENT };
}

/** Those of the settings that the server knows; it refuses a request with any other. */
export function onlyKnown(
  settings: ClickHouseSettings,
  known: ReadonlySet<string>,
): ClickHouseSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => known.has(name)));
}
