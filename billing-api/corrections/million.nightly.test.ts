import { describe, expect } from 'vitest';
import { test } from '../testing/billed-test.js';
import { makeSubscription } from '../testing/billing-test.js';
import { correct, prepare } from '../testing/correct-events.js';
import { completeBackfills, finishPartition } from '../testing/finish-partition.js';
import { generationOf } from '../testing/meter-generation.js';

const EVENTS = 1_000_000;
const PREVIEW_MS_MAX = 10_000;
const APPLY_MS_MAX = 2_000;

async function timed<Answer>(work: () => Promise<Answer>): Promise<readonly [Answer, number]> {
  const beganMs = performance.now();
  const answer = await work();
  return [answer, Math.round(performance.now() - beganMs)];
}

describe('a correction of a million events', () => {
  test('is previewed within ten seconds, and applied at once', async ({
    api,
    database,
    clickhouse: { client },
  }) => {
    const october = { billing_cycle: 'calendar', start_date: '2026-10-01T00:00:00.000Z' };
    const { meterId } = await makeSubscription(api, october);
    await completeBackfills(database.database);
    const generation = await generationOf(database.database, meterId);
    const { tenantId, environmentId } = api.environment;
    const parameters = { tenantId, environmentId, meterId, generation };
    // One customer, every 2.5 s of a month; half of the events are of each region.
    const at = `toDateTime64('2026-10-01 00:00:00', 3, 'UTC') + toIntervalMillisecond(number * 2500)`;
    await client.command(
      `INSERT INTO events_v1 (tenant_id, environment_id, event_name, customer_key, timestamp, event_id,
         source, properties, received_at, is_timestamp_given, log_id, log_partition, log_offset,
         record_index, appended_at)
       SELECT {tenantId:String}, {environmentId:String}, 'call', 'e:acme', ${at},
         concat('event-', toString(number)), '', map('region', if(number % 2 = 0, 'eu', 'us'), 'v', '1'),
         ${at}, true, 'log', 0, number, 0, toDateTime64('2026-11-01 00:00:00', 3, 'UTC')
       FROM numbers(${EVENTS})`,
      parameters,
      'test-million-events',
    );
    await client.command(
      `INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id, generation, minute,
         source, group_key, event_count)
       SELECT {tenantId:String}, {environmentId:String}, 'e:acme', {meterId:String}, {generation:UInt64},
         toDateTime64(toUnixTimestamp(toStartOfMinute(${at})), 0, 'UTC') AS minute, '', '', count()
       FROM numbers(${EVENTS}) GROUP BY minute`,
      parameters,
      'test-million-minutes',
    );
    const place = { logId: 'log', partition: 0 };
    await finishPartition(database.database, { ...place, nextOffset: EVENTS });
    const world = { api, database: database.database, clickHouse: client };
    const filter = {
      event_name: 'call',
      start_time: '2026-10-01T00:00:00Z',
      end_time: '2026-11-01T00:00:00Z',
      external_customer_id: 'acme',
    };
    const usage = () =>
      api.make('/v1/meter-usage/query', {
        meter_ids: [meterId],
        external_customer_ids: ['acme'],
        start_time: '2026-10-01T00:00:00Z',
        end_time: '2026-11-01T00:00:00Z',
      });
    const total = async () => (await usage()).items[0].total_value;
    expect(await total()).toBe(String(EVENTS));
    const change = { properties: { region: 'eu' } };
    const [amended, amendMs] = await timed(() => prepare(world, { type: 'amend', filter, change }));
    expect(amended).toMatchObject({ correction_status: 'ready', summary: { events: EVENTS } });
    const [ready, previewMs] = await timed(() => prepare(world, { type: 'withdraw', filter }));
    expect(ready.summary).toMatchObject({
      events: EVENTS,
      quantities: [{ quantity_before: String(EVENTS), quantity_after: '0' }],
    });
    const apply = (of: { id: string; token: string }) =>
      timed(() => api.make(`/v1/corrections/${of.id}/apply`, { token: of.token }));
    const [, applyMs] = await apply(ready);
    const [withdrawn, readMs] = await timed(total);
    expect(withdrawn).toBe('0');
    const half = { type: 'withdraw', filter: { ...filter, property_filters: { region: ['us'] } } };
    const [, revertMs] = await timed(() =>
      api.make(`/v1/corrections/${ready.id}/revert`, { reason: 'measured' }),
    );
    await correct(world, half);
    const [left, readHalfMs] = await timed(total);
    expect(left).toBe(String(EVENTS / 2));

    const figures = { amendMs, previewMs, applyMs, revertMs, readMs, readHalfMs };
    process.stdout.write(`a correction of ${EVENTS} events: ${JSON.stringify(figures)}\n`);
    expect(Math.max(amendMs, previewMs)).toBeLessThan(PREVIEW_MS_MAX);
    expect(Math.max(applyMs, revertMs)).toBeLessThan(APPLY_MS_MAX);
  });
});
