import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { HOUR_MS } from '../../contract/instant.js';
import { hashText } from '../../runtime/hash-text.js';
import { integerColumn } from '../../sql/columns.js';
import type { BatchRange } from '../fold/batch-tables.js';
import type { AcceptedCount } from '../fold/count-accepted.js';
import { meterKey, type MeterIndex } from '../fold/meter-index.js';
import { encodeBatch, type EncodedBatch } from '../fold/encode-rows.js';
import { foldBatch } from '../fold/fold-batch.js';
import { candidateOf, type Candidate, type DecodedRecord } from '../fold/candidate.js';

const eventRow = z
  .object({
    tenant_id: z.string(),
    environment_id: z.string(),
    event_name: z.string(),
    customer_key: z.string(),
    customer_id: z.string().nullable(),
    source: z.string(),
    timestamp_ms: integerColumn,
    event_id: z.string(),
    properties: z.record(z.string()),
    received_ms: integerColumn,
    is_timestamp_given: z.boolean(),
    appended_ms: integerColumn,
    log_offset: integerColumn,
    record_index: z.number().int(),
  })
  .transform((row): Candidate => {
    const environment = { tenantId: row.tenant_id, environmentId: row.environment_id };
    const stored = {
      environment,
      meterKey: meterKey(environment, row.event_name),
      event: {
        eventId: row.event_id,
        eventName: row.event_name,
        // The reverse of customerKeyOfEvent.
        externalCustomerId: row.customer_key.startsWith('e:') ? row.customer_key.slice(2) : null,
        customerId: row.customer_id,
        source: row.source,
        timestampMs: row.timestamp_ms,
        isTimestampGiven: row.is_timestamp_given,
        properties: row.properties,
      },
      receivedAtMs: row.received_ms,
      appendedAtMs: row.appended_ms,
      offset: row.log_offset,
      index: row.record_index,
    };
    return candidateOf(stored, hashText);
  });

const duplicatesRow = z.object({
  tenant_id: z.string(),
  environment_id: z.string(),
  hour_ms: integerColumn,
  event_count: integerColumn,
});

const SELECT_EVENTS = `SELECT toString(tenant_id) AS tenant_id,
    toString(environment_id) AS environment_id, toString(event_name) AS event_name, customer_key,
    customer_id, toString(source) AS source, event_id,
    toString(toUnixTimestamp64Milli(timestamp)) AS timestamp_ms,
    CAST(properties, 'Map(String, String)') AS properties,
    toString(toUnixTimestamp64Milli(received_at)) AS received_ms, is_timestamp_given,
    toString(toUnixTimestamp64Milli(appended_at)) AS appended_ms, log_offset, record_index
  FROM events_v1
  WHERE log_id = {log_id:String} AND log_partition = {log_partition:UInt32}
    AND log_offset >= {start:UInt64} AND log_offset < {end:UInt64}
  ORDER BY log_offset, record_index`;

/** The distinct events that a batch has stored, by the record that held them. */
async function readStoredEvents(
  clickhouse: ClickHouse,
  { logId, partition, start, end }: BatchRange,
): Promise<readonly DecodedRecord[]> {
  const parameters = { log_id: logId, log_partition: partition, start, end };
  const candidates = await clickhouse.query(SELECT_EVENTS, parameters, eventRow);
  const records = new Map<number, DecodedRecord & { readonly candidates: Candidate[] }>();
  for (const candidate of candidates) {
    const { offset, appendedAtMs } = candidate;
    const record = records.get(offset) ?? {
      offset,
      appendedAtMs,
      candidates: [],
      deadLetter: null,
    };
    records.set(offset, record);
    record.candidates.push(candidate);
  }
  return [...records.values()];
}

const SELECT_DUPLICATES = `SELECT toString(tenant_id) AS tenant_id,
    toString(environment_id) AS environment_id,
    toString(intDiv(toUnixTimestamp64Milli(received_at), ${HOUR_MS}) * ${HOUR_MS}) AS hour_ms,
    count() AS event_count
  FROM event_duplicates_v1 FINAL
  WHERE log_id = {log_id:String} AND log_partition = {log_partition:UInt32}
    AND log_offset >= {start:UInt64} AND log_offset < {end:UInt64}
  GROUP BY tenant_id, environment_id, hour_ms
  ORDER BY tenant_id, environment_id, hour_ms`;

/** The duplicates that a batch has stored, by hour of receipt: it has accepted them too. */
async function readStoredDuplicates(
  clickhouse: ClickHouse,
  { logId, partition, start, end }: BatchRange,
): Promise<readonly AcceptedCount[]> {
  const parameters = { log_id: logId, log_partition: partition, start, end };
  const rows = await clickhouse.query(SELECT_DUPLICATES, parameters, duplicatesRow);
  return rows.map((row) => ({
    environment: { tenantId: row.tenant_id, environmentId: row.environment_id },
    hourMs: row.hour_ms,
    eventCount: row.event_count,
  }));
}

/** With what a batch is made again. */
type StoredBatchParts = {
  readonly meters: MeterIndex;
  /** Records of the batch that are lost, counted as accepted. */
  readonly losses: readonly AcceptedCount[];
};

/**
 * The batch that has stored its events, as far as these tell: ids and usage. Duplicates that are
 * not stored yet, and dead letters, are not known any more.
 * @throws DependencyError when ClickHouse fails.
 */
export async function encodeStoredBatch(
  clickhouse: ClickHouse,
  range: BatchRange,
  { meters, losses }: StoredBatchParts,
): Promise<EncodedBatch> {
  const records = await readStoredEvents(clickhouse, range);
  const duplicates = await readStoredDuplicates(clickhouse, range);
  // Each of these events was found to be new when it was stored.
  const folded = foldBatch(records, new Map(), meters);
  const accepted = [...folded.accepted, ...duplicates, ...losses];
  return encodeBatch(range, { ...folded, accepted });
}
