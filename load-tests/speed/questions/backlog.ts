import { sql } from 'slonik';
import { z } from 'zod';
import { eventKey, partitionOf } from '../../../contract/event-key.js';
import { encodeEventRecord, type UsageEvent } from '../../../contract/usage-event.js';
import { openPostgresWriter } from '../../../event-log/postgres/writer.js';
import type { AppendRequest } from '../../../event-log/event-log.js';
import type { AggregatorWorld } from '../../harness/aggregator-world.js';

/** Events of one log record, as a bulk request leaves them. */
const RECORD_EVENTS = 100;
const APPEND_RECORDS = 40;
const CUSTOMERS = 10_000;
const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };
const METHODS = ['GET', 'POST', 'PUT'] as const;

export type Backlog = { readonly events: number; readonly partitions: number };

/** Every hundredth event repeats the one fifty before it. */
function eventOf(index: number): UsageEvent {
  const number = index % 100 === 99 ? index - 50 : index;
  return {
    eventId: `event-${number}`,
    eventName: 'request',
    externalCustomerId: `customer-${number % CUSTOMERS}`,
    customerId: null,
    source: 'web',
    timestampMs: Date.UTC(2026, 0, 1) + number * 10,
    isTimestampGiven: true,
    properties: {
      method: METHODS[number % METHODS.length] ?? 'GET',
      path: `/items/${number % 97}`,
    },
  };
}

/** Distinct events of a backlog: what must be counted. */
export function distinctEvents(events: number): number {
  return events - Math.floor(events / 100);
}

/** One meter of everything and two with filters. */
export async function createMeters({ database }: AggregatorWorld): Promise<void> {
  const filters = [
    '[]',
    '[{"key":"method","values":["GET"]}]',
    '[{"key":"method","values":["PUT"]}]',
  ];
  for (const [index, filter] of filters.entries()) {
    await database.asEnvironment(environment, (connection) =>
      connection.query(sql.type(z.unknown())`
        SELECT activate_meter_version(${`m${index}`}, 1, ${environment.tenantId},
                                      ${environment.environmentId}, 'request', ${filter}::jsonb)`),
    );
  }
}

/** Appends the events as ingest would: gathered into records by partition. */
export async function writeBacklog(world: AggregatorWorld, backlog: Backlog): Promise<void> {
  const { events, partitions } = backlog;
  const writer = await openPostgresWriter({
    url: world.databaseUrl,
    partitionCount: partitions,
    produceTimeoutMs: 60_000,
  });
  const gathered: UsageEvent[][] = Array.from({ length: partitions }, () => []);
  let records: AppendRequest[] = [];
  const close = (partition: number): void => {
    const some = gathered[partition]?.splice(0) ?? [];
    if (some.length === 0) return;
    const value = encodeEventRecord({ environment, receivedAtMs: Date.now(), events: some });
    records.push({ partition, key: `p${partition}`, value });
  };
  for (let index = 0; index < events; index += 1) {
    const event = eventOf(index);
    const partition = partitionOf(eventKey(environment, event.eventId), partitions);
    if (gathered[partition]?.push(event) === RECORD_EVENTS) close(partition);
    if (records.length >= APPEND_RECORDS) await writer.append(records.splice(0));
  }
  gathered.forEach((_, partition) => {
    close(partition);
  });
  if (records.length > 0) await writer.append(records);
  records = [];
  await writer.close();
}
