import { createHash } from 'node:crypto';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { Database } from '../../sql/pool.js';
import { insertSelect } from '../../clickhouse/insert-statement.js';
import { eventKey } from '../../contract/event-key.js';
import { COUNT_EVENTS, type MeterAggregation } from '../../contract/aggregation.js';
import type { Environment } from '../../contract/environment.js';
import { compileValueRule, type ValueRule } from '../../contract/event-value.js';
import { minuteOf } from '../../contract/instant.js';
import { addTally, createUsageCell } from '../../contract/usage-cell.js';
import {
  encodeMinute,
  MINUTE_COLUMNS,
  MINUTE_INSERT_SETTING,
  type UsageMinute,
} from '../../contract/usage-minute.js';

import { finishPartition, intendBatch } from './finish-partition.js';

/** One event as the aggregator would have written it. */
export type StoredEvent = {
  /** `event-1`, `event-2` and so on when absent. */
  readonly id?: string;
  readonly at: string;
  /** When it was received; at its own instant when absent. */
  readonly receivedAt?: string;
  readonly customerKey?: string;
  readonly eventName?: string;
  readonly source?: string;
  readonly properties?: Readonly<Record<string, string>>;
  /** Place in the log; partition 0 of log `log`. */
  readonly offset?: number;
};

export type UsageTarget = {
  readonly environment: Environment;
  readonly meterId: string;
  readonly generation: number;
  /** A count when absent. */
  readonly aggregation?: MeterAggregation;
};

/** The customer of events that name none. */
const CUSTOMER_KEY = 'e:acme';

/** Where all of these events are in a log. */
const PLACE = { logId: 'log', partition: 0 };

/** How many events were written to each test's database, which numbers them. */
const writtenEvents = new WeakMap<ClickHouse, number>();

const clickHouseTime = (text: string): string => text.replace('T', ' ').replace('Z', '');

const hashText = (text: string): string =>
  createHash('sha256').update(text).digest('hex').slice(0, 32);

/** Reading a rule takes longer than using it. */
const rules = new WeakMap<MeterAggregation, ValueRule>();

function ruleOf({ aggregation = COUNT_EVENTS }: UsageTarget): ValueRule {
  const rule = rules.get(aggregation) ?? compileValueRule(aggregation, hashText);
  rules.set(aggregation, rule);
  return rule;
}

/** The minute of a meter that one event makes. */
function minuteOfEvent(target: UsageTarget, event: StoredEvent, eventId: string): UsageMinute {
  const atMs = Date.parse(event.at);
  const rule = ruleOf(target);
  const { environment, meterId, generation, aggregation = COUNT_EVENTS } = target;
  const { properties = {}, customerKey = CUSTOMER_KEY, source = '' } = event;
  const cell = createUsageCell(rule.type);
  const minuteMs = minuteOf(atMs);
  addTally(cell, rule, {
    texts: rule.properties.map((key) => properties[key] ?? null),
    count: 1,
    timeSumMs: atMs - minuteMs,
    place: { atMs, receivedMs: atMs, eventId },
  });
  const meter = { environment, meterId, generation, aggregation };
  const groupKey = properties[aggregation.groupBy ?? ''] ?? '';
  return { meter, customerKey, minuteMs, source, groupKey, cell };
}

export type Engines = {
  readonly database: { readonly database: Database };
  readonly clickhouse: { readonly client: ClickHouse };
};

type CountedEvent = StoredEvent & { readonly countsOn?: readonly UsageTarget[] };

/**
 * Writes events as raw rows; with a target also as minutes of that meter, as counted events are.
 * Their partition is finished then.
 */
export async function storeEvents(
  engines: Engines,
  environment: Environment,
  events: readonly CountedEvent[],
): Promise<void> {
  const nextOffset = await writeEvents(engines.clickhouse.client, environment, events);
  await finishPartition(engines.database.database, { ...PLACE, nextOffset });
}

/** As `storeEvents`, of a batch that is intended and not finished. */
export async function storeUnfinished(
  engines: Engines,
  environment: Environment,
  events: readonly CountedEvent[],
): Promise<void> {
  const end = await writeEvents(engines.clickhouse.client, environment, events);
  await intendBatch(engines.database.database, { ...PLACE, end });
}

const timesOf = ({ at, receivedAt = at }: StoredEvent) => ({
  timestamp: clickHouseTime(at),
  received_at: clickHouseTime(receivedAt),
});

/** An event as the table of events has it. */
function rawOf(
  environment: Environment,
  event: StoredEvent,
  { eventId, offset }: { readonly eventId: string; readonly offset: number },
): string {
  return JSON.stringify({
    tenant_id: environment.tenantId,
    environment_id: environment.environmentId,
    customer_key: event.customerKey ?? CUSTOMER_KEY,
    source: event.source ?? '',
    event_name: event.eventName ?? 'call',
    ...timesOf(event),
    event_id: eventId,
    properties: event.properties ?? {},
    is_timestamp_given: true,
    log_id: PLACE.logId,
    log_partition: PLACE.partition,
    log_offset: offset,
    record_index: 0,
    appended_at: '2026-11-01 00:00:00.000',
  });
}

/** @returns the offset behind the events. */
async function writeEvents(
  client: ClickHouse,
  environment: Environment,
  events: readonly CountedEvent[],
): Promise<number> {
  const raw: string[] = [];
  const ids: string[] = [];
  const minutes: string[] = [];
  let nextOffset = 0;
  for (const event of events) {
    const number = (writtenEvents.get(client) ?? 0) + 1;
    writtenEvents.set(client, number);
    const { id: eventId = `event-${number}`, offset = number } = event;
    nextOffset = Math.max(nextOffset, offset + 1);
    raw.push(rawOf(environment, event, { eventId, offset }));
    const idHash = hashText(eventKey(environment, eventId));
    const place = { log_id: PLACE.logId, log_partition: PLACE.partition, log_offset: offset };
    ids.push(JSON.stringify({ ...place, id: idHash, timestamp: clickHouseTime(event.at) }));
    for (const target of event.countsOn ?? []) {
      minutes.push(JSON.stringify(encodeMinute(minuteOfEvent(target, event, eventId))));
    }
  }
  await insertLines(client, 'events_v1', raw);
  await insert(client, INSERT_IDS, ids);
  await insert(client, INSERT_MINUTES, minutes);
  return nextOffset;
}

/** Inserts JSON rows. */
export function insertLines(
  client: ClickHouse,
  table: string,
  rows: readonly string[],
): Promise<void> {
  return insert(client, `INSERT INTO ${table} FORMAT JSONEachRow`, rows);
}

const INSERT_IDS = `INSERT INTO event_ids_v1 (log_id, log_partition, log_offset, record_index, id_hash,
    payload_hash, timestamp, is_timestamp_given, appended_at)
  SELECT log_id, log_partition, log_offset, 0, toFixedString(unhex(id), 16), toFixedString('', 8),
    timestamp, true, toDateTime64('2026-11-01 00:00:00.000', 3, 'UTC')
  FROM input('log_id String, log_partition UInt32, log_offset UInt64, id String,
    timestamp DateTime64(3, ''UTC'')') FORMAT JSONEachRow`;

const INSERT_MINUTES = insertSelect({
  table: 'usage_minute_v1',
  columns: MINUTE_COLUMNS,
  settings: MINUTE_INSERT_SETTING,
});

async function insert(client: ClickHouse, query: string, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return;
  await client.insertText({
    query,
    body: rows.join('\n'),
    queryId: `test-${Math.random()}`,
  });
}
