import type { ClickHouse } from '../clickhouse/client.js';
import type { Environment } from '../contract/environment.js';
import { minuteOf } from '../contract/instant.js';

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
};

let nextEvent = 0;

const clickHouseTime = (text: string): string => text.replace('T', ' ').replace('Z', '');

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
        event_id: `event-${nextEvent}`,
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
          group_key: '',
          event_count: 1,
        }),
      );
    }
  }
  await insertLines(client, 'events_v1', raw);
  await insertLines(client, 'usage_minute_v1', minutes);
}

/** Inserts JSON rows. */
export async function insertLines(
  client: ClickHouse,
  table: string,
  rows: readonly string[],
): Promise<void> {
  if (rows.length === 0) return;
  await client.insertText({
    query: `INSERT INTO ${table} FORMAT JSONEachRow`,
    body: rows.join('\n'),
    queryId: `test-${table}-${Math.random()}`,
  });
}
