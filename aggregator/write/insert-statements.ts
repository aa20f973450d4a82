import { insertSelect } from '../../clickhouse/insert-statement.js';
import { MINUTE_INSERT_SETTING } from '../../contract/usage-minute.js';
import { TABLES, type BatchTable } from '../fold/batch-tables.js';

const GATE = `WHERE throwIf((SELECT max(epoch) FROM ingest_gate_v1
  WHERE log_id = {gate_log_id:String} AND log_partition = {gate_partition:UInt32}
  ) != {gate_epoch:UInt64}) = 0`;

const INSERTS: Readonly<Record<BatchTable, string>> = {
  events: insertSelect({ ...TABLES.events, condition: GATE }),
  ids: insertSelect({ ...TABLES.ids, condition: GATE }),
  usage: insertSelect({ ...TABLES.usage, condition: GATE, settings: MINUTE_INSERT_SETTING }),
  duplicates: insertSelect({ ...TABLES.duplicates, condition: GATE }),
  deadLetters: insertSelect({ ...TABLES.deadLetters, condition: GATE }),
};

/** Inserts usage rows of a backfill. An attempt has its own generation and needs no gate. */
export const BACKFILL_INSERT = insertSelect({ ...TABLES.usage, settings: MINUTE_INSERT_SETTING });

/**
 * The insert statement of a table, with the gate: it fails (code 395) when the partition's gate
 * holds another epoch than `gate_epoch`, so that a request that arrives late writes nothing.
 */
export function insertStatement(table: BatchTable): string {
  return INSERTS[table];
}
