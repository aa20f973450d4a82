import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { makeKey, test } from '../testing/billing-test.js';
import { IN_FLIGHT_MS } from '../testing/billing-harness.js';
import { finishPartition } from '../testing/finish-partition.js';
import { sendEvents, storeLogEvents, type LogEvent } from '../testing/log-rows.js';

const PATH = '/v1/events/monitoring';

const eventAt = (at: string): LogEvent => ({
  id: `at-${at}`,
  at,
  name: 'call',
  customer: { externalCustomerId: 'acme' },
  source: '',
  properties: {},
});
const TIMES = [
  '2026-10-01T10:00:00.000Z',
  '2026-10-01T10:59:59.999Z',
  '2026-10-01T12:00:00.000Z',
  '2026-10-01T12:15:00.000Z',
  '2026-10-02T00:00:00.000Z',
];

type Point = { readonly timestamp: string; readonly event_count: number };

describe('GET /events/monitoring', () => {
  test('counts stored events by window, empty windows too', async ({ api, clickhouse, clock }) => {
    clock.set('2026-10-02T10:00:00.000Z');
    await storeLogEvents(clickhouse.client, api.environment, TIMES.map(eventAt));
    const { body } = await api.call('GET', PATH);
    expect(body.total_count).toBe(5);
    expect(body.points).toHaveLength(24);
    const filled = body.points.filter((point: Point) => point.event_count > 0);
    expect(filled).toEqual([
      { timestamp: '2026-10-01T10:00:00.000Z', event_count: 2 },
      { timestamp: '2026-10-01T12:00:00.000Z', event_count: 2 },
      { timestamp: '2026-10-02T00:00:00.000Z', event_count: 1 },
    ]);
    const range = 'start_time=2026-10-01T10:00:00.001Z&end_time=2026-10-02T00:00:00.000Z';
    for (const [size, points] of [
      ['MINUTE', 840],
      ['15MIN', 56],
      ['30MIN', 28],
      ['HOUR', 14],
      ['3HOUR', 5],
      ['DAY', 1],
      ['WEEK', 1],
      ['MONTH', 1],
    ] as const) {
      const windows = (await api.call('GET', `${PATH}?${range}&window_size=${size}`)).body;
      expect([size, windows.total_count, windows.points.length]).toEqual([size, 3, points]);
      const sum = windows.points.reduce((all: number, point: Point) => all + point.event_count, 0);
      expect(sum).toBe(3);
    }
  });

  test('tells how far the numbers reach and what waits', async ({ api, database }) => {
    await sendEvents(api, TIMES.map(eventAt));
    const { logId } = (await api.eventLog.reader()).identity;
    const waiting = (await api.call('GET', PATH)).body;
    expect(waiting).toMatchObject({ consumption_lag: 5, total_count: 0 });
    const { slonik } = database.database;
    const ends = await slonik.any(
      sql.type(z.object({ partition: z.number(), end: z.number() }))`
        SELECT partition, end_offset::int AS end FROM event_log_bounds()`,
    );
    for (const { partition, end } of ends) {
      await finishPartition(database.database, { logId, partition, nextOffset: end });
    }
    const done = (await api.call('GET', PATH)).body;
    expect(done.consumption_lag).toBe(0);
    expect(Date.parse(done.visible_until)).toBeGreaterThan(Date.parse(waiting.visible_until));
    expect(Date.parse(done.visible_until)).toBeLessThanOrEqual(Date.now() - IN_FLIGHT_MS);
  });

  test('shows no events of another tenant, and refuses what breaks a rule', async ({
    api,
    database,
    clickhouse,
  }) => {
    const at = new Date(Date.now() - 60_000).toISOString();
    await storeLogEvents(clickhouse.client, api.environment, [eventAt(at)]);
    const other = await makeKey(database.database, {});
    const headers = { 'x-api-key': other.apiKey };
    expect((await api.call('GET', PATH, { headers })).body.total_count).toBe(0);
    expect((await api.call('GET', PATH)).body.total_count).toBe(1);
    for (const [query, member] of [
      ['start_time=2026-10-01T00:00:00Z', 'end_time'],
      ['end_time=2026-10-01T00:00:00Z', 'start_time'],
      ['start_time=2026-10-02T00:00:00Z&end_time=2026-10-01T00:00:00Z', 'end_time'],
      ['window_size=YEAR', 'window_size'],
      [
        'window_size=MINUTE&start_time=2026-01-01T00:00:00Z&end_time=2026-10-01T00:00:00Z',
        'window_size',
      ],
    ]) {
      const { status, body } = await api.call('GET', `${PATH}?${query}`);
      expect([query, status, Object.keys(body.details)]).toEqual([query, 400, [member]]);
    }
  });
});
