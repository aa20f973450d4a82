import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import type { Environment } from '../../../contract/environment.js';
import { eventKey, partitionOf } from '../../../contract/event-key.js';
import { mergeRecords } from '../../../contract/records/record-parts.js';
import { encodeEventRecord } from '../../../contract/usage-event.js';
import type { Database } from '../../../sql/pool.js';
import { makeKey, makeSubscription, test } from '../../testing/billing-test.js';
import { LOG_PARTITIONS, type BillingUnderTest } from '../../testing/billing-harness.js';
import { finishPartition } from '../../testing/finish-partition.js';
import {
  sendEvents,
  storeLogEvents,
  storeLogDuplicates,
  usageEventOf,
  type LogEvent,
} from '../../testing/log-rows.js';

const PLACE = { logId: 'log', partition: 0, offset: 7 };
const CALL: LogEvent = {
  id: 'order-1',
  at: '2026-10-15T10:00:30.500Z',
  receivedAt: '2026-10-15T10:00:31.000Z',
  name: 'call',
  customer: { externalCustomerId: 'acme' },
  source: 'web',
  properties: { region: 'eu', size: '2.50' },
  place: PLACE,
};

const lookUp = (api: BillingUnderTest, id: string, headers = {}) =>
  api.call('GET', `/v1/events/lookup?id=${encodeURIComponent(id)}`, { headers });

async function setAggregation(
  database: Database,
  meterId: string,
  columns: readonly [type: string, field: string | null, expression: string | null],
): Promise<void> {
  const [type, field, expression] = columns;
  await ownerOf(database).query(sql.type(z.unknown())`
    UPDATE meter_versions SET aggregation_type = ${type}, aggregation_field = ${field},
      aggregation_expression = ${expression}, aggregation_multiplier = NULL
    WHERE meter_id = ${meterId}`);
}

const finished = (database: Database) => finishPartition(database, { ...PLACE, nextOffset: 8 });

describe('GET /events/lookup', () => {
  test('shows a counted event with its meters and the lines that bill it', async ({
    api,
    database,
    clickhouse,
    clock,
  }) => {
    clock.set('2026-10-01T12:00:00.000Z');
    const subscription = await makeSubscription(api, { start_date: '2026-10-10T00:00:00Z' });
    await storeLogEvents(clickhouse.client, api.environment, [CALL]);
    await storeLogDuplicates(clickhouse.client, api.environment, [
      {
        id: CALL.id,
        receivedAt: '2026-10-16T00:00:00.000Z',
        payload: null,
        place: { ...PLACE, offset: 8 },
      },
      {
        id: CALL.id,
        receivedAt: '2026-10-16T00:00:00.000Z',
        payload: { a: 1 },
        place: { ...PLACE, offset: 9 },
      },
      { id: 'other', receivedAt: '2026-10-16T00:00:00.000Z', payload: null },
    ]);
    await finished(database.database);
    const { status, body } = await lookUp(api, CALL.id);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      event: { id: CALL.id, timestamp: CALL.at, received_at: CALL.receivedAt },
      status: 'counted',
      reason: null,
      conflicts: 1,
      duplicates: 2,
      minute: '2026-10-15T10:00:00.000Z',
      log: { log_id: 'log', partition: 0, offset: 7, index: 0 },
      meters: [
        {
          meter_id: subscription.meterId,
          meter_version: 1,
          feature_id: null,
          value: '1',
          is_unreadable: false,
          is_applied: true,
        },
      ],
    });
    const [item] = (await api.call('GET', `/v1/subscriptions/${subscription.id}`)).body.line_items;
    expect(body.lines).toEqual([
      {
        subscription_id: subscription.id,
        subscription_line_item_id: item.id,
        price_id: subscription.priceId,
        invoice_id: null,
        invoice_line_item_id: null,
        window_start: '2026-10-10T00:00:00.000Z',
      },
    ]);
  });

  test('names no line whose window or filter leaves the event out', async ({
    api,
    database,
    clickhouse,
    clock,
  }) => {
    clock.set('2026-10-01T12:00:00.000Z');
    const { meterId, planId, customerId } = await makeSubscription(api, {
      start_date: '2026-10-15T10:00:30.501Z',
    });
    for (const filter_values of [{ region: ['us'] }, { region: ['us', 'eu'] }]) {
      const price = { entity_id: planId, currency: 'usd', meter_id: meterId, amount: '1' };
      await api.make('/v1/prices', { ...price, filter_values });
    }
    const later = await api.make('/v1/subscriptions', {
      customer_id: customerId,
      plan_id: planId,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: '2026-10-15T10:00:30.500Z',
    });
    await storeLogEvents(clickhouse.client, api.environment, [CALL]);
    await finished(database.database);
    const { lines } = (await lookUp(api, CALL.id)).body;
    const items = (await api.call('GET', `/v1/subscriptions/${later.id}`)).body.line_items;
    expect(items).toHaveLength(3);
    // The one without a filter and the one with this region; not the one of another region.
    expect(lines).toHaveLength(2);
    expect(
      lines.every((line: { subscription_id: string }) => line.subscription_id === later.id),
    ).toBe(true);
  });

  test('says why an event is not counted, and counts it once nothing is missing', async ({
    api,
    database,
    clickhouse,
  }) => {
    await storeLogEvents(clickhouse.client, api.environment, [CALL]);
    await finished(database.database);
    const stage = async () => {
      const { status, reason, meters } = (await lookUp(api, CALL.id)).body;
      return [status, reason, meters.length];
    };
    expect(await stage()).toEqual(['unmatched', 'unknown_customer', 0]);
    await api.make('/v1/customers', { external_id: 'acme' });
    expect(await stage()).toEqual(['unmatched', 'no_meter_for_event_name', 0]);
    const meter = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
    const filters = [{ key: 'region', values: ['us'] }];
    await api.make('/v1/meters', { ...meter, filters });
    expect(await stage()).toEqual(['unmatched', 'no_matching_meter', 0]);
    await api.make('/v1/meters', { ...meter, filters: [{ key: 'region', values: ['eu'] }] });
    expect(await stage()).toEqual(['counted', null, 1]);
    const [{ is_applied: isApplied }] = (await lookUp(api, CALL.id)).body.meters;
    // The event came first, so the new meter shows it when it has been applied to stored events.
    expect(isApplied).toBe(false);
  });

  test('gives the value of the event on meters of every kind', async ({
    api,
    database,
    clickhouse,
  }) => {
    const { meterId } = await makeSubscription(api);
    await storeLogEvents(clickhouse.client, api.environment, [CALL]);
    await finished(database.database);
    for (const [aggregation, value, isUnreadable] of [
      [['SUM', 'size', null], '2.5', false],
      [['MAX', null, 'size * 3'], '7.5', false],
      [['MIN', 'size', null], '2.5', false],
      [['SUM', 'region', null], '0', true],
      [['MIN', 'region', null], '0', true],
      [['AVG', 'missing', null], '0', true],
      [['COUNT_UNIQUE', 'region', null], '1', false],
    ] as const) {
      await setAggregation(database.database, meterId, aggregation);
      const [meter] = (await lookUp(api, CALL.id)).body.meters;
      expect([aggregation, meter.value, meter.is_unreadable]).toEqual([
        aggregation,
        value,
        isUnreadable,
      ]);
    }
  });

  test('finds a pending event in the log, or stored above the checkpoint', async ({
    api,
    database,
    clickhouse,
  }) => {
    await makeSubscription(api);
    const others = Array.from({ length: 20 }, (_, n) => ({ ...CALL, id: `other-${n}` }));
    await sendEvents(api, [...others, CALL]);
    const partition = partitionOf(eventKey(api.environment, CALL.id), LOG_PARTITIONS);
    const { body } = await lookUp(api, CALL.id);
    const { logId } = (await api.eventLog.reader()).identity;
    expect(body).toMatchObject({
      event: {
        id: CALL.id,
        external_customer_id: 'acme',
        timestamp: CALL.at,
        received_at: CALL.receivedAt,
        properties: CALL.properties,
      },
      status: 'pending',
      reason: null,
      meters: [],
      lines: [],
      log: { log_id: logId, partition },
    });
    const place = { logId, partition, offset: body.log.offset };
    await storeLogEvents(clickhouse.client, api.environment, [{ ...CALL, place }]);
    await finishPartition(database.database, { ...place, nextOffset: place.offset });
    expect((await lookUp(api, CALL.id)).body.status).toBe('pending');
    await finishPartition(database.database, { ...place, nextOffset: place.offset + 1 });
    expect((await lookUp(api, CALL.id)).body.status).toBe('counted');
  });

  test('finds a pending event in a record that holds parts of several tenants', async ({
    api,
    database,
  }) => {
    const other = await makeKey(database.database, {});
    const partOf = (environment: Environment, ids: readonly string[]): string =>
      encodeEventRecord({
        environment,
        receivedAtMs: Date.parse(CALL.at),
        events: ids.map((id) => usageEventOf({ ...CALL, id })),
      });
    const key = eventKey(api.environment, CALL.id);
    const partition = partitionOf(key, LOG_PARTITIONS);
    const value = mergeRecords([
      partOf(other.environment, ['a', 'secret']),
      partOf(api.environment, ['b', CALL.id]),
    ]);
    await (await api.eventLog.writer()).append([{ partition, key, value }]);
    const { body } = await lookUp(api, CALL.id);
    expect(body).toMatchObject({ event: { id: CALL.id }, status: 'pending', log: { partition } });
    expect((await lookUp(api, 'secret')).status).toBe(404);
  });

  test('knows no event of another tenant, and none that was never sent', async ({
    api,
    database,
    clickhouse,
  }) => {
    await storeLogEvents(clickhouse.client, api.environment, [CALL]);
    await sendEvents(api, [{ ...CALL, id: 'waiting' }]);
    const other = await makeKey(database.database, {});
    const headers = { 'x-api-key': other.apiKey };
    for (const id of [CALL.id, 'waiting', 'never']) {
      expect([id, (await lookUp(api, id, headers)).status]).toEqual([id, 404]);
    }
    expect((await lookUp(api, 'never')).status).toBe(404);
    for (const query of ['', '?id=', `?id=${'x'.repeat(256)}`]) {
      const { status, body } = await api.call('GET', `/v1/events/lookup${query}`);
      expect([query, status, Object.keys(body.details ?? {})]).toEqual([query, 400, ['id']]);
    }
  });
});
