import { hash } from 'node:crypto';
import { sql } from 'slonik';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import { eventKey, partitionOf } from '../../contract/event-key.js';
import type { Environment } from '../../contract/environment.js';
import { encodeEventRecord, type UsageEvent } from '../../contract/usage-event.js';
import type { Database } from '../../sql/pool.js';
import type { BillingUnderTest } from './billing-harness.js';
import { insertLines } from './write-usage-minutes.js';

/** An event as the aggregator has stored it: the raw row and its id. */
export type LogEvent = {
  readonly id: string;
  readonly at: string;
  readonly receivedAt?: string;
  readonly name: string;
  readonly customer: { readonly externalCustomerId?: string; readonly customerId?: string };
  readonly source: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Place in log `log`; partition 0 and the next offset unless it is given. */
  readonly place?: { readonly logId: string; readonly partition: number; readonly offset: number };
};

/** A duplicate as the aggregator has stored it; a payload makes it a conflict. */
export type LogDuplicate = {
  readonly id: string;
  readonly receivedAt: string;
  readonly payload: object | null;
  readonly place?: LogEvent['place'];
};

/** Of each test's database: tests of other files use the same modules. */
const lastOffsets = new WeakMap<ClickHouse, number>();

function placeColumns(client: ClickHouse, place: LogEvent['place']): object {
  const next = (lastOffsets.get(client) ?? 0) + 1;
  lastOffsets.set(client, next);
  const { logId, partition, offset } = place ?? { logId: 'log', partition: 0, offset: next };
  return { log_id: logId, log_partition: partition, log_offset: offset, record_index: 0 };
}

const time = (text: string): string => text.replace('T', ' ').replace('Z', '');

const environmentColumns = ({ tenantId, environmentId }: Environment): object => ({
  tenant_id: tenantId,
  environment_id: environmentId,
});

/** Writes events as raw rows and ids. */
export async function storeLogEvents(
  client: ClickHouse,
  environment: Environment,
  events: readonly LogEvent[],
): Promise<void> {
  const rows = events.map((event) => {
    const place = placeColumns(client, event.place);
    const { externalCustomerId, customerId } = event.customer;
    const receivedAt = time(event.receivedAt ?? event.at);
    const appended = { appended_at: receivedAt };
    const raw = {
      ...environmentColumns(environment),
      ...place,
      ...appended,
      event_name: event.name,
      customer_key:
        externalCustomerId === undefined ? `i:${customerId ?? ''}` : `e:${externalCustomerId}`,
      timestamp: time(event.at),
      event_id: event.id,
      customer_id: customerId ?? null,
      source: event.source,
      properties: event.properties,
      received_at: receivedAt,
      is_timestamp_given: true,
    };
    const idHash = hash('sha256', eventKey(environment, event.id)).slice(0, 32);
    const id = { ...place, ...appended, id: idHash, timestamp: time(event.at) };
    return { raw: JSON.stringify(raw), id: JSON.stringify(id) };
  });
  await insertLines(
    client,
    'events_v1',
    rows.map(({ raw }) => raw),
  );
  const structure = `log_id String, log_partition UInt32, log_offset UInt64, record_index UInt32,
    id String, timestamp DateTime64(3, ''UTC''), appended_at DateTime64(3, ''UTC'')`;
  await client.insertText({
    query: `INSERT INTO event_ids_v1 (log_id, log_partition, log_offset, record_index, id_hash,
        payload_hash, timestamp, is_timestamp_given, appended_at)
      SELECT log_id, log_partition, log_offset, record_index, toFixedString(unhex(id), 16),
        toFixedString('', 8), timestamp, true, appended_at
      FROM input('${structure}') FORMAT JSONEachRow`,
    body: rows.map(({ id }) => id).join('\n'),
    queryId: `test-ids-${Math.random()}`,
  });
}

/** Writes duplicates of ids. */
export async function storeLogDuplicates(
  client: ClickHouse,
  environment: Environment,
  duplicates: readonly LogDuplicate[],
): Promise<void> {
  const rows = duplicates.map((duplicate) =>
    JSON.stringify({
      ...environmentColumns(environment),
      ...placeColumns(client, duplicate.place),
      event_id: duplicate.id,
      is_conflict: duplicate.payload !== null,
      payload: duplicate.payload === null ? '' : JSON.stringify(duplicate.payload),
      received_at: time(duplicate.receivedAt),
      appended_at: time(duplicate.receivedAt),
    }),
  );
  await insertLines(client, 'event_duplicates_v1', rows);
}

/** Appends events to the log of the API under test, one record each, as ingest does. */
export async function sendEvents(
  api: Pick<BillingUnderTest, 'environment' | 'eventLog'>,
  events: readonly LogEvent[],
): Promise<void> {
  const writer = await api.eventLog.writer();
  const { environment } = api;
  const records = events.map((event) => {
    const key = eventKey(environment, event.id);
    const value = encodeEventRecord({
      environment,
      receivedAtMs: Date.parse(event.receivedAt ?? event.at),
      events: [usageEventOf(event)],
    });
    return { partition: partitionOf(key, writer.identity.partitionCount), key, value };
  });
  await writer.append(records);
}

export function usageEventOf(event: LogEvent): UsageEvent {
  return {
    eventId: event.id,
    eventName: event.name,
    externalCustomerId: event.customer.externalCustomerId ?? null,
    customerId: event.customer.customerId ?? null,
    source: event.source,
    timestampMs: Date.parse(event.at),
    isTimestampGiven: true,
    properties: event.properties,
  };
}

/** How many events of one environment and hour of receipt a batch decoded. */
export type AcceptedOfBatch = {
  /** `<log>:<partition>`. */
  readonly source: string;
  readonly start: number;
  readonly end: number;
  readonly hour: string;
  readonly events: number;
  /** A row as releases wrote it whose rows did not merge. */
  readonly isSingle?: boolean;
};

/** The rows of one or more batches, in one insert. */
export async function storeAllAccepted(
  client: ClickHouse,
  batches: readonly (AcceptedOfBatch & { readonly environment: Environment })[],
): Promise<void> {
  const rows = batches.map(({ environment, isSingle = false, ...batch }) =>
    JSON.stringify({
      ...environmentColumns(environment),
      customer_key: '',
      meter_id: '#accepted',
      generation: 0,
      minute: time(batch.hour),
      source: batch.source,
      group_key: isSingle ? `${batch.start}:${batch.end}` : '',
      event_count: batch.events,
      value_max: isSingle ? 0 : batch.end,
    }),
  );
  await insertLines(client, 'usage_minute_v1', rows);
}

export async function storeAccepted(
  client: ClickHouse,
  environment: Environment,
  batch: AcceptedOfBatch,
): Promise<void> {
  await storeAllAccepted(client, [{ ...batch, environment }]);
}

/** Makes the log of the API under test look as if so many records waited, without any of them. */
export async function pretendLag(
  database: Database,
  api: Pick<BillingUnderTest, 'eventLog'>,
  records: number,
): Promise<void> {
  await api.eventLog.reader();
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO event_log_batches
      (partition, end_offset, record_count, appended_at, lengths, payload)
    SELECT partition, ${records}, ${records}, now(), '', '' FROM event_log_partitions`);
}
