import { insertSelect } from '../../clickhouse/insert-statement.js';
import { IS_TIED } from '../../clickhouse/server-facts.js';
import { MINUTE_INSERT_SETTING } from '../../contract/usage-minute.js';
import { TABLES, type BatchTable } from '../fold/batch-tables.js';

const GATE = `WHERE throwIf((SELECT arraySort(groupArray((log_partition, highest))) FROM (
    SELECT log_partition, max(epoch) AS highest FROM ingest_gate_v1
    WHERE log_id = {gate_log_id:String} AND log_partition IN {gate_partitions:Array(UInt32)}
    GROUP BY log_partition)
  ) != arraySort(arrayZip({gate_partitions:Array(UInt32)}, {gate_epochs:Array(UInt64)}))) = 0
  AND ${IS_TIED}`;

const INSERTS: Readonly<Record<BatchTable, string>> = {
  events: insertSelect({ ...TABLES.events, condition: GATE }),
  ids: insertSelect({ ...TABLES.ids, condition: GATE }),
  usage: insertSelect({ ...TABLES.usage, condition: GATE, settings: MINUTE_INSERT_SETTING }),
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
 * The insert statement of a table, with the gate: it fails (code 395) when the gate of one of the
 * partitions holds another epoch than the one that is given, so that a request that arrives late
 * writes nothing; and on another server than the one that was checked.
 */
export function insertStatement(table: BatchTable): string {
  return INSERTS[table];
}
