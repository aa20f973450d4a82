import { refuseRepeat } from '../../clickhouse/client.js';
import { insertSelect } from '../../clickhouse/insert-statement.js';
import { IS_TIED } from '../../clickhouse/server-facts.js';
import { MINUTE_INSERT_SETTING } from '../../contract/usage-minute.js';
import { IS_MARKER_ROW } from '../fold/batch-marker.js';
import { TABLES, type BatchTable } from '../fold/batch-tables.js';

const GATE = `WHERE throwIf((SELECT arraySort(groupArray((log_partition, highest))) FROM (
    SELECT log_partition, max(epoch) AS highest FROM ingest_gate_v1
    WHERE log_id = {gate_log_id:String} AND log_partition IN {gate_partitions:Array(UInt32)}
    GROUP BY log_partition)
  ) != arraySort(arrayZip({gate_partitions:Array(UInt32)}, {gate_epochs:Array(UInt64)}))) = 0
  AND ${IS_TIED}`;

/**
 * Whether the first row of an insert is there, found by its sorting key. The rows of an insert are
 * there all of them or none, so one tells.
 */
const FIRST_EVENT = `SELECT count() FROM events_v1
  WHERE appended_at = fromUnixTimestamp64Milli({first_appended_at:Int64}, 'UTC')
    AND tenant_id = {first_tenant_id:String} AND environment_id = {first_environment_id:String}
    AND event_name = {first_event_name:String} AND customer_key = {first_customer_key:String}
    AND timestamp = fromUnixTimestamp64Milli({first_timestamp:Int64}, 'UTC')
    AND log_id = {first_log_id:String} AND log_partition = {first_log_partition:UInt32}
    AND log_offset = {first_log_offset:UInt64} AND record_index = {first_record_index:UInt32}`;
const FIRST_ID = `SELECT count() FROM event_ids_v1
  WHERE appended_at = fromUnixTimestamp64Milli({first_appended_at:Int64}, 'UTC')
    AND log_id = {first_log_id:String} AND log_partition = {first_log_partition:UInt32}
    AND id_hash = toFixedString(unhex({first_id_hash:String}), 16)
    AND log_offset = {first_log_offset:UInt64}`;
/** Whether the markers of any of its partitions reach beyond where its batch begins. */
const MARKERS = `SELECT count() FROM usage_minute_v1
  WHERE ${IS_MARKER_ROW} AND group_key = '' AND source IN {gate_sources:Array(String)}
    AND value_max > transform(source, {gate_sources:Array(String)}, {gate_starts:Array(UInt64)},
      toUInt64(0))`;

const INSERTS: Readonly<Record<BatchTable, string>> = {
  events: insertSelect({ ...TABLES.events, condition: `${GATE} AND ${refuseRepeat(FIRST_EVENT)}` }),
  ids: insertSelect({ ...TABLES.ids, condition: `${GATE} AND ${refuseRepeat(FIRST_ID)}` }),
  usage: insertSelect({
    ...TABLES.usage,
    condition: `${GATE} AND ${refuseRepeat(MARKERS)}`,
    settings: MINUTE_INSERT_SETTING,
  }),
  // Their tables keep one row for each place in the log.
  duplicates: insertSelect({ ...TABLES.duplicates, condition: GATE }),
  deadLetters: insertSelect({ ...TABLES.deadLetters, condition: GATE }),
};

/** Inserts usage rows of a backfill. An attempt has its own generation and needs no gate. */
export const BACKFILL_INSERT = insertSelect({
  ...TABLES.usage,
  condition: `WHERE ${IS_TIED}`,
  settings: MINUTE_INSERT_SETTING,
});

/**
 * The insert statement of a table, with the gate. It fails (code 395) when the gate of one of the
 * partitions holds another epoch than the given one, so a request that arrives late writes nothing.
 * It also fails on another server than the one that was checked. It fails (code 389) when the same
 * insert was applied before.
 */
export function insertStatement(table: BatchTable): string {
  return INSERTS[table];
}
