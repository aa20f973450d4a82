import type { ClickHouse } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { encodeEventRecord } from '../../contract/usage-event.js';
import type { Database } from '../../sql/pool.js';
import { finishPartition } from './finish-partition.js';
import {
  storeAccepted,
  storeLogEvents,
  storeLogDuplicates,
  usageEventOf,
  type LogEvent,
} from './log-rows.js';
import { insertLines } from './write-usage-minutes.js';
import { generationOf } from './meter-generation.js';

const LOG_ID = 'log';
const EVENT_TIMES = ['05T08:00:10', '05T08:00:40', '12T17:30:00', '19T23:59:59'];

/** Where usage is stored. */
export type UsageStores = { readonly database: Database; readonly clickhouse: ClickHouse };

/** `suffix` ends every key of the client; `partition` is one of the environment's own. */
export type Place = { readonly suffix: string; readonly partition: number };

/** Where and for which customer and meter usage is stored. */
type UsagePlace = Place & { readonly environment: Environment; readonly meterId: string };

/** Events of the customer as the aggregator stores them: rows, ids and a duplicate. */
async function storeRawEvents(
  clickhouse: ClickHouse,
  { environment, suffix, partition }: UsagePlace,
): Promise<readonly LogEvent[]> {
  const externalCustomerId = `acme${suffix}`;
  const source = 'gateway';
  const events = EVENT_TIMES.map((time, index) => ({
    id: `order-104${index}${suffix}`,
    at: `2026-01-${time}.000Z`,
    name: 'api.request',
    customer: { externalCustomerId },
    source,
    properties: { region: 'eu', status: '200' },
    place: { logId: LOG_ID, partition, offset: index },
  }));
  await storeLogEvents(clickhouse, environment, events);
  const conflict = {
    id: events[0]?.id ?? '',
    receivedAt: '2026-01-05T09:15:00.020Z',
    payload: {
      event_name: 'api.request',
      external_customer_id: externalCustomerId,
      customer_id: null,
      source,
      timestamp: '2026-01-05T08:00:10.000Z',
      properties: { region: 'us', status: '200' },
    },
    place: { logId: LOG_ID, partition, offset: 10 },
  };
  await storeLogDuplicates(clickhouse, environment, [conflict]);
  return events;
}

/** The minutes that the events make, and the end of their partition. */
export async function storeUsage(
  { clickhouse, database }: UsageStores,
  place: UsagePlace,
): Promise<{ event: string }> {
  const { environment, suffix, partition, meterId } = place;
  const events = await storeRawEvents(clickhouse, place);
  const generation = await generationOf(database, meterId);
  const counts = new Map<string, number>();
  for (const { at } of events) {
    const minute = at.slice(0, 16);
    counts.set(minute, (counts.get(minute) ?? 0) + 1);
  }
  const minutes = [...counts].map(([minute, count]) =>
    JSON.stringify({
      tenant_id: environment.tenantId,
      environment_id: environment.environmentId,
      customer_key: `e:acme${suffix}`,
      meter_id: meterId,
      generation,
      minute: `${minute.replace('T', ' ')}:00`,
      source: 'gateway',
      group_key: '',
      event_count: count,
    }),
  );
  await insertLines(clickhouse, 'usage_minute_v1', minutes);
  await storeAccepted(clickhouse, environment, {
    source: `${LOG_ID}:${partition}`,
    start: 0,
    end: 11,
    hour: '2026-01-05T08:00:00.000Z',
    events: 2,
  });
  await finishPartition(database, { logId: LOG_ID, partition, nextOffset: 11 });
  return { event: events[0]?.id ?? '' };
}

/** A record that today's decoder reads, as an older release would have given it up. */
export async function storeDeadLetter(
  { clickhouse }: UsageStores,
  environment: Environment,
  { suffix, partition }: Place,
): Promise<{ dead_letter: string }> {
  const offset = 1_041;
  const event = usageEventOf({
    id: `late-order${suffix}`,
    at: '2026-01-19T12:00:00.000Z',
    name: 'api.request',
    customer: { externalCustomerId: `acme${suffix}` },
    source: 'gateway',
    properties: { region: 'eu' },
  });
  const receivedAtMs = Date.parse('2026-01-19T12:00:01.000Z');
  const letter = {
    log_id: LOG_ID,
    log_partition: partition,
    log_offset: offset,
    reason: 'unknown_version',
    payload: encodeEventRecord({ environment, receivedAtMs, events: [event] }),
    appended_at: '2026-01-20 09:00:00.000',
  };
  await insertLines(clickhouse, 'dead_letters_v1', [JSON.stringify(letter)]);
  return { dead_letter: `${LOG_ID}:${partition}:${offset}` };
}
