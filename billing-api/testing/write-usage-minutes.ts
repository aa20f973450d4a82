import { createHash } from 'node:crypto';
import type { ClickHouse } from '../../clickhouse/client.js';
import { COUNT_EVENTS, type MeterAggregation } from '../../contract/aggregation.js';
import { plain } from '../../contract/decimal.js';
import type { Environment } from '../../contract/environment.js';
import { compileValueRule, type ValueRule } from '../../contract/event-value.js';
import { minuteOf } from '../../contract/instant.js';
import { addTally, createUsageCell } from '../../contract/usage-cell.js';

/** One event as the aggregator would have written it. */
export type StoredEvent = {
  readonly at: string;
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

let nextEvent = 0;

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

/** The columns that a meter's minute has of one event. */
function sumsOf(target: UsageTarget, event: StoredEvent, eventId: string): object {
  const atMs = Date.parse(event.at);
  const rule = ruleOf(target);
  const { properties = {} } = event;
  const cell = createUsageCell(rule.type);
  addTally(cell, rule, {
    texts: rule.properties.map((key) => properties[key] ?? null),
    count: 1,
    timeSumMs: atMs - minuteOf(atMs),
    place: { atMs, receivedMs: atMs, eventId },
  });
  const { latest } = cell;
  return {
    group_key: properties[target.aggregation?.groupBy ?? ''] ?? '',
    event_count: cell.eventCount,
    unreadable_count: cell.unreadableCount,
    value_sum: plain(cell.valueSum),
    value_time_sum: plain(cell.valueTimeSum),
    value_max: plain(cell.valueMax),
    ...(latest === null
      ? {}
      : { latest: [latest.atMs, latest.receivedMs, latest.eventId, plain(latest.value)] }),
    unique_hex: [...cell.uniques],
  };
}

/**
 * Writes events as raw rows; with a target also as minutes of that meter, as counted events are.
 */
export async function storeEvents(
  client: ClickHouse,
  environment: Environment,
  events: readonly (StoredEvent & { readonly countsOn?: readonly UsageTarget[] })[],
): Promise<void> {
  const raw: string[] = [];
  const minutes: string[] = [];
  for (const event of events) {
    nextEvent += 1;
    const eventId = `event-${nextEvent}`;
    const common = {
      tenant_id: environment.tenantId,
      environment_id: environment.environmentId,
      customer_key: event.customerKey ?? 'e:acme',
      source: event.source ?? '',
    };
    raw.push(
      JSON.stringify({
        ...common,
        event_name: event.eventName ?? 'call',
        timestamp: clickHouseTime(event.at),
        event_id: eventId,
        properties: event.properties ?? {},
        received_at: clickHouseTime(event.at),
        is_timestamp_given: true,
        log_id: 'log',
        log_partition: 0,
        log_offset: event.offset ?? nextEvent,
        record_index: 0,
        appended_at: '2026-11-01 00:00:00.000',
      }),
    );
    for (const target of event.countsOn ?? []) {
      minutes.push(
        JSON.stringify({
          ...common,
          meter_id: target.meterId,
          generation: target.generation,
          minute: clickHouseTime(new Date(minuteOf(Date.parse(event.at))).toISOString()),
          ...sumsOf(target, event, eventId),
        }),
      );
    }
  }
  await insertLines(client, 'events_v1', raw);
  await insert(client, INSERT_MINUTES, minutes);
}

/** Inserts JSON rows. */
export function insertLines(
  client: ClickHouse,
  table: string,
  rows: readonly string[],
): Promise<void> {
  return insert(client, `INSERT INTO ${table} FORMAT JSONEachRow`, rows);
}

const MINUTE_COLUMNS = `tenant_id String, environment_id String, customer_key String, source String,
  meter_id String, generation UInt64, minute DateTime64(0, 'UTC'), group_key String,
  event_count UInt64, unreadable_count UInt64, value_sum Decimal(76, 18),
  value_time_sum Decimal(76, 18), value_max Decimal(76, 18),
  latest Tuple(Int64, Int64, String, Decimal(76, 18)), unique_hex Array(String)`;
const INSERT_MINUTES = `INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, source,
    meter_id, generation, minute, group_key, event_count, unreadable_count, value_sum,
    value_time_sum, value_max, latest, uniques)
  SELECT tenant_id, environment_id, customer_key, source, meter_id, generation, minute, group_key,
    event_count, unreadable_count, value_sum, value_time_sum, value_max, latest,
    arrayMap(text -> toFixedString(unhex(text), 16), unique_hex)
  FROM input('${MINUTE_COLUMNS.replaceAll("'", "''")}') FORMAT JSONEachRow`;

async function insert(client: ClickHouse, query: string, rows: readonly string[]): Promise<void> {
  if (rows.length === 0) return;
  await client.insertText({
    query,
    body: rows.join('\n'),
    queryId: `test-${Math.random()}`,
  });
}
