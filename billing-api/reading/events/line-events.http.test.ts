import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../../load-tests/harness/owner.js';
import { Decimal, plain, ZERO } from '../../../contract/number/decimal.js';
import { makeKey, test } from '../../testing/billing-test.js';
import type { BillingUnderTest } from '../../testing/billing-harness.js';
import {
  makePricedPlan,
  numbersAt,
  type MeterOptions,
  type PricedPlan,
} from '../../testing/priced-plan.js';

const OCTOBER = 'period_start=2026-10-01T00:00:00Z&period_end=2026-11-01T00:00:00Z';

type Item = {
  event_id: string;
  timestamp: string;
  value: string | null;
  window_start: string;
  group: string | null;
  text: string | null;
};

/** The line of a new subscription to the plan. */
async function lineOf(api: BillingUnderTest, plan: PricedPlan, members: object = {}) {
  const id = await plan.subscribe(members);
  const { body } = await api.call('GET', `/v1/subscriptions/${id}`);
  return { subscriptionId: id, lineId: body.line_items.at(-1).id as string };
}

const eventsOf = async (api: BillingUnderTest, lineId: string, query: string = OCTOBER) =>
  (await api.call('GET', `/v1/subscriptions/lineitems/${lineId}/events?${query}`)).body;

async function allPages(api: BillingUnderTest, lineId: string, limit: number): Promise<Item[]> {
  const items: Item[] = [];
  let cursor = '';
  for (;;) {
    const query = `${OCTOBER}&limit=${limit}${cursor}`;
    const page = await eventsOf(api, lineId, query);
    items.push(...page.items);
    if (page.next_cursor === null) return items;
    expect(page.items).toHaveLength(limit);
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
}

const sumOf = (values: readonly Decimal[]): Decimal =>
  values.reduce((sum, value) => sum.plus(value), ZERO);

const largestOf = (values: readonly Decimal[]): Decimal =>
  values.reduce((largest, value) => Decimal.max(largest, value), ZERO);

/** The values of the events that take part. */
const valuesOf = (items: readonly Item[]): readonly Decimal[] =>
  items.flatMap(({ value }) => (value === null ? [] : [new Decimal(value)]));

/** The aggregations of docs/domain.md 7.5, over events in the order of time. */
const AGAIN: Readonly<Record<string, (items: readonly Item[]) => Decimal>> = {
  COUNT: (items) => new Decimal(items.length),
  SUM: (items) => sumOf(valuesOf(items)),
  AVG: (items) => sumOf(valuesOf(items)).dividedBy(items.length),
  LATEST: (items) => new Decimal(items.at(-1)?.value ?? 0),
  MIN: (items) => Decimal.min(...valuesOf(items)),
  COUNT_UNIQUE: (items) =>
    new Decimal(new Set(items.flatMap(({ text }) => (text === null ? [] : [text]))).size),
  MAX: (items) => {
    const windowOf = (item: Item): string => `${item.window_start} ${item.group ?? ''}`;
    const windows = [...new Set(items.map(windowOf))];
    const largest = windows.map((window) =>
      largestOf(valuesOf(items.filter((one) => windowOf(one) === window))),
    );
    return sumOf(largest);
  },
};

const EVENTS = [
  ...numbersAt(
    ['05T10:00:00.000', '7'],
    ['05T10:59:59.999', '2.5'],
    ['05T11:00:00.000', '4'],
    ['31T23:59:59.999', '4'],
  ),
  { at: '2026-10-05T10:00:00.000Z', properties: { n: '9', host: 'b' } },
  { at: '2026-10-05T10:30:00.000Z', properties: { n: 'none', host: 'b' } },
  { at: '2026-10-06T10:00:00.000Z' },
];

describe('GET /subscriptions/lineitems/{id}/events', () => {
  const meters: readonly MeterOptions[] = [
    { type: 'COUNT' },
    { type: 'SUM', field: 'n' },
    { type: 'AVG', field: 'n' },
    { type: 'LATEST', field: 'n' },
    { type: 'COUNT_UNIQUE', field: 'n' },
    { type: 'MAX', field: 'n' },
    { type: 'MIN', field: 'n' },
    { type: 'MAX', field: 'n', bucketSize: 'HOUR', groupBy: 'host' },
  ];
  test.for(meters)(
    'lists what aggregates to the quantity of the line: %o',
    async (meter, { api, database, clickhouse }) => {
      const pricing = { meter, price: { amount: '1' } };
      const plan = await makePricedPlan(api, { database, clickhouse }, pricing);
      await plan.count(EVENTS);
      await plan.count([
        { at: '2026-09-30T23:59:59.999Z', properties: { n: '100' } },
        { at: '2026-11-01T00:00:00.000Z', properties: { n: '100' } },
        { at: '2026-10-05T00:00:00.000Z', customerKey: 'e:other', properties: { n: '100' } },
      ]);
      const { subscriptionId, lineId } = await lineOf(api, plan);
      const page = await eventsOf(api, lineId);
      const invoice = await api.make('/v1/invoices/preview', {
        subscription_id: subscriptionId,
        period_start: '2026-10-01T00:00:00Z',
        period_end: '2026-11-01T00:00:00Z',
      });
      expect(page.quantity).toBe(invoice.line_items[0].quantity);
      expect([page.event_count, page.items.length]).toEqual([7, 7]);
      const again = AGAIN[meter.type]?.(page.items) ?? ZERO;
      expect(plain(again.toDecimalPlaces(18))).toBe(page.quantity);
      const ids = page.items.map(({ event_id: id }: Item) => id);
      expect(new Set(ids).size).toBe(7);
      expect(await allPages(api, lineId, 2)).toEqual(page.items);
    },
  );

  test('keeps the order of time and id, and tells the window of each', async ({
    api,
    database,
    clickhouse,
  }) => {
    const meter = { type: 'MAX', field: 'n', bucketSize: 'HOUR', groupBy: 'host' } as const;
    const pricing = { meter, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, pricing);
    await plan.count(EVENTS);
    const { lineId } = await lineOf(api, plan);
    const { items } = await eventsOf(api, lineId);
    const rows = items.map((one: Item) => [one.timestamp, one.value, one.window_start, one.group]);
    const hour = '2026-10-05T10:00:00.000Z';
    expect(rows.slice(0, 4)).toEqual([
      [hour, '7', hour, ''],
      [hour, '9', hour, 'b'],
      ['2026-10-05T10:30:00.000Z', '0', hour, 'b'],
      ['2026-10-05T10:59:59.999Z', '2.5', hour, ''],
    ]);
    const inside = await eventsOf(
      api,
      lineId,
      'period_start=2026-10-05T10:30:00Z&period_end=2026-10-05T11:00:00Z',
    );
    expect(inside.items.map((one: Item) => one.window_start)).toEqual([
      '2026-10-05T10:30:00.000Z',
      '2026-10-05T10:30:00.000Z',
    ]);
    expect(inside.quantity).toBe('2.5');
  });

  test('keeps to the filters of meter and price, and to where an archived meter ended', async ({
    api,
    database,
    clickhouse,
  }) => {
    const meter = { type: 'COUNT', filters: [{ key: 'host', values: ['a', 'b'] }] } as const;
    const pricing = { meter, price: { amount: '1', filter_values: { n: ['1', '2'] } } };
    const plan = await makePricedPlan(api, { database, clickhouse }, pricing);
    const at = '2026-10-05T10:00:00.000Z';
    const good = { at, properties: { host: 'a', n: '1' } };
    await plan.count([
      { ...good, offset: 1 },
      { at, offset: 2, properties: { host: 'b', n: '2', more: 'x' } },
      { at, properties: { host: 'b', n: '3' } },
      { at, properties: { host: 'b' } },
    ]);
    const { lineId } = await lineOf(api, plan);
    expect(await eventsOf(api, lineId)).toMatchObject({ quantity: '2', event_count: 2 });
    expect((await eventsOf(api, lineId)).items).toHaveLength(2);
    const slonik = ownerOf(database.database);
    const run = sql.type(z.unknown());
    await slonik.query(run`UPDATE meters SET status = 'archived' WHERE id = ${plan.meterId}`);
    await slonik.query(run`
      INSERT INTO meter_ends (meter_id, log, partition, counted_below)
      VALUES (${plan.meterId}, 'log', 0, 2)`);
    const { quantity, items } = await eventsOf(api, lineId);
    expect([quantity, items.length]).toEqual(['1', 1]);
  });

  test('goes back to the first event of a meter that never resets', async ({
    api,
    database,
    clickhouse,
  }) => {
    const meter = { type: 'SUM', field: 'n', resetUsage: 'NEVER' } as const;
    const pricing = { meter, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, pricing);
    await plan.count([
      { at: '2020-01-01T00:00:00.000Z', properties: { n: '5' } },
      ...numbersAt(['05T10:00:00.000', '2']),
    ]);
    const { lineId } = await lineOf(api, plan);
    const page = await eventsOf(api, lineId);
    expect(page.quantity).toBe('7');
    expect(page.items.map((one: Item) => [one.timestamp, one.window_start])).toEqual([
      ['2020-01-01T00:00:00.000Z', '2026-10-01T00:00:00.000Z'],
      ['2026-10-05T10:00:00.000Z', '2026-10-01T00:00:00.000Z'],
    ]);
  });

  test('refuses what breaks a rule, and lines that are unknown or of others', async ({
    api,
    database,
    clickhouse,
  }) => {
    const pricing = { meter: { type: 'COUNT' } as const, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, pricing);
    await api.make('/v1/prices', { entity_id: plan.planId, currency: 'usd', amount: '1' });
    const { subscriptionId, lineId: seatsId } = await lineOf(api, plan);
    const { body } = await api.call('GET', `/v1/subscriptions/${subscriptionId}`);
    const path = `/v1/subscriptions/lineitems/${body.line_items[0].id}/events`;
    const fixed = await api.call('GET', `/v1/subscriptions/lineitems/${seatsId}/events`);
    expect([fixed.status, fixed.body.code]).toEqual([400, 'invalid_operation']);
    for (const [query, member] of [
      ['period_start=2026-10-02T00:00:00Z&period_end=2026-10-02T00:00:00Z', 'period_end'],
      ['cursor=x', 'cursor'],
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['period_start=today', 'period_start'],
    ]) {
      const { status, body: error } = await api.call('GET', `${path}?${query}`);
      expect([query, status, Object.keys(error.details)]).toEqual([query, 400, [member]]);
    }
    expect((await api.call('GET', path)).body.items).toEqual([]);
    const unknown = '/v1/subscriptions/lineitems/subs_line_x/events';
    expect((await api.call('GET', unknown)).status).toBe(404);
    const { apiKey } = await makeKey(database.database, {});
    const headers = { 'x-api-key': apiKey };
    expect((await api.call('GET', path, { headers })).status).toBe(404);
    // No usage line of the subscription is in a period before its start.
    const before = 'period_start=2025-01-01T00:00:00Z&period_end=2025-02-01T00:00:00Z';
    expect((await api.call('GET', `${path}?${before}`)).body).toEqual({
      items: [],
      next_cursor: null,
      event_count: 0,
      quantity: '0',
    });
  });
});

describe('GET /subscriptions/lineitems/{id}/events.csv', () => {
  test('gives the same events as CSV, page by page', async ({ api, database, clickhouse }) => {
    const pricing = { meter: { type: 'SUM', field: 'n' } as const, price: { amount: '1' } };
    const plan = await makePricedPlan(api, { database, clickhouse }, pricing);
    await plan.count([
      { at: '2026-10-05T10:00:00.000Z', source: '=web, "x"', properties: { n: '7' } },
      ...numbersAt(['06T10:00:00.000', '2'], ['07T10:00:00.000', '3']),
    ]);
    const { lineId } = await lineOf(api, plan);
    const path = `/v1/subscriptions/lineitems/${lineId}/events.csv?${OCTOBER}`;
    const whole = await api.call('GET', path);
    expect(whole.headers.get('content-type')).toContain('text/csv');
    expect(whole.headers.get('x-next-cursor')).toBeNull();
    const [header, first, ...others] = String(whole.body).split('\r\n');
    expect(header).toBe(
      'event_id,timestamp,received_at,external_customer_id,source,value,window_start,group,text,correction_id',
    );
    expect(first).toMatch(
      /^event-\d+,2026-10-05T10:00:00.000Z,2026-10-05T10:00:00.000Z,acme,"'=web, ""x""",7,2026-10-01T00:00:00.000Z,,,$/,
    );
    expect(others).toHaveLength(3);
    const page = await api.call('GET', `${path}&limit=2`);
    const next = page.headers.get('x-next-cursor') ?? '';
    const rest = await api.call('GET', `${path}&limit=2&cursor=${next}`);
    const rowsOf = (text: unknown): string => String(text).split('\r\n').slice(1).join('\r\n');
    expect(`${String(page.body)}${rowsOf(rest.body)}`).toBe(whole.body);
    expect((await api.call('GET', `${path}&limit=10001`)).status).toBe(400);
    const missing = '/v1/subscriptions/lineitems/subs_line_x/events.csv';
    expect((await api.call('GET', missing)).status).toBe(404);
  });
});
