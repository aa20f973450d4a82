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

/** Inserts usage rows of a backfill: each attempt has its own generation and needs no gate. */
export const BACKFILL_INSERT = insertSelect({ ...TABLES.usage, settings: MINUTE_INSERT_SETTING });

/**
 * The gated insert statement of a table: it refuses itself (code 395) when the gate of its
 * partition stands at another epoch than `gate_epoch`, so a request that starts late does no harm.
 */
export function insertStatement(table: BatchTable): string {
  return INSERTS[table];
}
