import { describe, expect } from 'vitest';
import { formatEventPageKey } from './event-page-key.js';
import { makeKey, test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { storeLogEvents, storeLogDuplicates, type LogEvent } from '../testing/log-rows.js';

const RANGE = { start_time: '2026-10-01T00:00:00Z', end_time: '2026-11-01T00:00:00Z' };
const QUERY = '/v1/events/query';

type EventJson = { readonly id: string; readonly timestamp: string; readonly event_name: string };

/** Twelve events; times repeat, so that ids must decide between them. */
const EVENTS: readonly LogEvent[] = Array.from({ length: 12 }, (_, index) => ({
  id: `e${String(index).padStart(2, '0')}`,
  at: `2026-10-0${1 + Math.floor(index / 3)}T12:00:00.00${index % 2}Z`,
  name: index % 4 === 0 ? 'login' : 'call',
  customer: index % 5 === 0 ? { customerId: 'cust_x' } : { externalCustomerId: 'acme' },
  source: index % 2 === 0 ? 'web' : '',
  properties: { region: index % 3 === 0 ? 'eu' : 'us', n: String(index) },
}));

const byTime = (left: LogEvent, right: LogEvent): number =>
  left.at === right.at ? (left.id < right.id ? -1 : 1) : left.at < right.at ? -1 : 1;
const byName = (left: LogEvent, right: LogEvent): number =>
  left.name === right.name ? byTime(left, right) : left.name < right.name ? -1 : 1;
const idsOf = (events: readonly LogEvent[]): string[] => events.map(({ id }) => id);

async function queryIds(api: BillingUnderTest, body: object): Promise<string[]> {
  const { events } = await api.make(QUERY, { ...RANGE, page_size: 1000, ...body });
  return events.map(({ id }: EventJson) => id);
}

const oldestFirst = [...EVENTS].sort(byTime);
const newestFirst = [...oldestFirst].reverse();

describe('POST /events/query and GET /events', () => {
  test('give every member of an event', async ({ api, clickhouse }) => {
    await storeLogEvents(clickhouse.client, api.environment, [
      {
        id: 'order|1::x',
        at: '2026-10-02T10:00:00.123Z',
        receivedAt: '2026-10-02T10:00:01.456Z',
        name: 'call',
        customer: { externalCustomerId: 'acme', customerId: 'cust_1' },
        source: 'web',
        properties: { n: '1.50', __proto__x: 'p', 'a"b': 'ü😀' },
      },
    ]);
    const body = await api.make(QUERY, { ...RANGE, count_total: true });
    expect(body).toEqual({
      events: [
        {
          id: 'order|1::x',
          external_customer_id: 'acme',
          customer_id: 'cust_1',
          event_name: 'call',
          timestamp: '2026-10-02T10:00:00.123Z',
          received_at: '2026-10-02T10:00:01.456Z',
          source: 'web',
          properties: { n: '1.50', __proto__x: 'p', 'a"b': 'ü😀' },
          environment_id: api.environment.environmentId,
        },
      ],
      has_more: false,
      iter_first_key: '1790935200123000000::order|1::x',
      iter_last_key: null,
      total_count: 1,
      offset: 0,
    });
    const query = new URLSearchParams({ ...RANGE, count_total: 'true' });
    expect((await api.call('GET', `/v1/events?${query.toString()}`)).body).toEqual(body);
  });

  test('sort by time or name, either way round', async ({ api, clickhouse }) => {
    await storeLogEvents(clickhouse.client, api.environment, EVENTS);
    expect(await queryIds(api, {})).toEqual(idsOf(newestFirst));
    expect(await queryIds(api, { order: 'asc' })).toEqual(idsOf(oldestFirst));
    const byNames = idsOf([...EVENTS].sort(byName));
    expect(await queryIds(api, { sort: 'event_name', order: 'asc' })).toEqual(byNames);
    expect(await queryIds(api, { sort: 'event_name' })).toEqual([...byNames].reverse());
  });

  test('filter by each member, and by all at once', async ({ api, clickhouse }) => {
    await storeLogEvents(clickhouse.client, api.environment, EVENTS);
    const cases: readonly (readonly [object, (event: LogEvent) => boolean])[] = [
      [{ event_name: 'login' }, ({ name }) => name === 'login'],
      [{ event_name: 'Login' }, () => false],
      [{ event_id: 'e03' }, ({ id }) => id === 'e03'],
      [{ event_id: 'nobody' }, () => false],
      [{ source: 'web' }, ({ source }) => source === 'web'],
      [{ source: '' }, ({ source }) => source === ''],
      [{ external_customer_id: 'acme' }, ({ customer }) => 'externalCustomerId' in customer],
      [{ customer_id: 'cust_x' }, ({ customer }) => 'customerId' in customer],
      [{ customer_id: 'cust_x', external_customer_id: 'acme' }, () => false],
      [{ property_filters: { region: ['eu'] } }, ({ properties }) => properties['region'] === 'eu'],
      [
        { property_filters: { region: ['eu', 'us'], n: ['1', '2'] } },
        ({ id }) => /e0[12]/.test(id),
      ],
      [{ property_filters: { region: ['EU'] } }, () => false],
      [{ property_filters: { other: [''] } }, () => false],
      [{ property_filters: { constructor: ['x'] } }, () => false],
      [
        { start_time: '2026-10-02T12:00:00.001Z', end_time: '2026-10-03T12:00:00.001Z' },
        ({ at }) => at >= '2026-10-02T12:00:00.001Z' && at < '2026-10-03T12:00:00.001Z',
      ],
      [{ start_time: '2026-10-02T12:00:00Z', end_time: '2026-10-02T12:00:00Z' }, () => false],
      [
        { event_name: 'call', source: 'web', external_customer_id: 'acme', event_id: 'e02' },
        ({ id }) => id === 'e02',
      ],
    ];
    for (const [filter, isWanted] of cases) {
      expect([filter, await queryIds(api, filter)]).toEqual([
        filter,
        idsOf(newestFirst.filter(isWanted)),
      ]);
      const { total_count: total } = await api.make(QUERY, {
        ...RANGE,
        ...filter,
        count_total: true,
      });
      expect([filter, total]).toEqual([filter, EVENTS.filter(isWanted).length]);
    }
  });

  test('find the events of a customer under both references', async ({ api, clickhouse }) => {
    const customer = await api.make('/v1/customers', { external_id: 'acme' });
    await storeLogEvents(clickhouse.client, api.environment, [
      { ...EVENTS[1], id: 'by-external', customer: { externalCustomerId: 'acme' } } as LogEvent,
      { ...EVENTS[2], id: 'by-id', customer: { customerId: customer.id } } as LogEvent,
      { ...EVENTS[3], id: 'other', customer: { externalCustomerId: 'b' } } as LogEvent,
    ]);
    const both = ['by-external', 'by-id'];
    expect((await queryIds(api, { external_customer_id: 'acme' })).sort()).toEqual(both);
    expect((await queryIds(api, { customer_id: customer.id })).sort()).toEqual(both);
    const same = { customer_id: customer.id, external_customer_id: 'acme' };
    expect((await queryIds(api, same)).sort()).toEqual(both);
  });

  test('read GET filters as they read those of a body', async ({ api, clickhouse }) => {
    await storeLogEvents(clickhouse.client, api.environment, EVENTS);
    const query = new URLSearchParams({
      ...RANGE,
      property_filters: 'region:eu;n:3,9',
      order: 'asc',
    });
    const { body } = await api.call('GET', `/v1/events?${query.toString()}`);
    expect(body.events.map(({ id }: EventJson) => id)).toEqual(['e03', 'e09']);
  });

  test('show the last seven days when no time is named', async ({ api, clickhouse, clock }) => {
    clock.set('2026-10-08T12:00:00.000Z');
    await storeLogEvents(clickhouse.client, api.environment, EVENTS);
    const { events } = await api.make(QUERY, {});
    const shown = newestFirst.filter(({ at }) => at >= '2026-10-01T12:00:00.000Z');
    expect(events.map(({ id }: EventJson) => id)).toEqual(idsOf(shown));
    const later = await api.make(QUERY, { end_time: '2026-10-09T12:00:00.000Z' });
    expect(later.events).toHaveLength(EVENTS.filter(({ at }) => at >= '2026-10-02T12').length);
  });
});

async function readAllPages(api: BillingUnderTest, body: object): Promise<string[]> {
  const ids: string[] = [];
  let key: string | null = null;
  do {
    const page: { events: EventJson[]; has_more: boolean; iter_last_key: string | null } =
      await api.make(QUERY, {
        ...RANGE,
        page_size: 5,
        ...body,
        ...(key === null ? {} : { iter_last_key: key, offset: 3 }),
      });
    ids.push(...page.events.map(({ id }) => id));
    expect(page.iter_last_key !== null).toBe(page.has_more);
    key = page.iter_last_key;
  } while (key !== null);
  return ids;
}

describe('pages of events', () => {
  test('join to the whole list, in every order', async ({ api, clickhouse }) => {
    await storeLogEvents(clickhouse.client, api.environment, EVENTS);
    for (const sort of ['timestamp', 'event_name']) {
      for (const order of ['asc', 'desc']) {
        expect(await readAllPages(api, { sort, order })).toEqual(
          await queryIds(api, { sort, order }),
        );
      }
    }
  });

  test('neither repeat nor miss an event when others come in', async ({ api, clickhouse }) => {
    await storeLogEvents(clickhouse.client, api.environment, EVENTS);
    const first = await api.make(QUERY, { ...RANGE, page_size: 5 });
    const since = { ...EVENTS[0], id: 'since', at: '2026-10-20T00:00:00.000Z' } as LogEvent;
    await storeLogEvents(clickhouse.client, api.environment, [since]);
    const rest = await queryIds(api, { iter_last_key: first.iter_last_key });
    const shown = first.events.map(({ id }: EventJson) => id);
    expect([...shown, ...rest]).toEqual(idsOf(newestFirst));
    expect(await queryIds(api, { iter_first_key: first.iter_first_key })).toEqual(['since']);
    const between = {
      iter_first_key: first.iter_first_key,
      iter_last_key: formatEventPageKey({ eventId: 'since', timestampMs: Date.parse(since.at) }),
    };
    expect(await queryIds(api, between)).toEqual([]);
  });

  test('hold exactly as many events as asked for', async ({ api, clickhouse }) => {
    await storeLogEvents(clickhouse.client, api.environment, EVENTS);
    const one = await api.make(QUERY, { ...RANGE, page_size: 1 });
    expect(one).toMatchObject({ has_more: true, total_count: null, offset: 0 });
    expect(one.events).toHaveLength(1);
    expect(one.iter_last_key).toBe(one.iter_first_key);
    const all = await api.make(QUERY, { ...RANGE, page_size: 12 });
    expect(all).toMatchObject({ has_more: false, iter_last_key: null });
    const moved = await api.make(QUERY, { ...RANGE, page_size: 1000, offset: 10 });
    expect(moved.offset).toBe(10);
    expect(moved.events.map(({ id }: EventJson) => id)).toEqual(idsOf(newestFirst.slice(10)));
    const none = await api.make(QUERY, { ...RANGE, offset: 12 });
    expect(none).toMatchObject({ events: [], iter_first_key: null, has_more: false });
  });

  test('are refused with what is wrong, naming the member', async ({ api }) => {
    const long = 'x'.repeat(256);
    const many = Object.fromEntries(Array.from({ length: 101 }, (_, key) => [`k${key}`, ['x']]));
    const cases: readonly (readonly [object, string])[] = [
      [{ page_size: 0 }, 'page_size'],
      [{ page_size: 1001 }, 'page_size'],
      [{ page_size: 1.5 }, 'page_size'],
      [{ offset: -1 }, 'offset'],
      [{ offset: 100_001 }, 'offset'],
      [{ sort: 'source' }, 'sort'],
      [{ order: 'up' }, 'order'],
      [{ start_time: 'yesterday' }, 'start_time'],
      [{ start_time: '2026-10-02T00:00:00Z', end_time: '2026-10-01T23:59:59Z' }, 'end_time'],
      [{ iter_first_key: 'x' }, 'iter_first_key'],
      [{ iter_last_key: '1::e' }, 'iter_last_key'],
      [{ iter_last_key: '1000000::e', sort: 'event_name' }, 'iter_last_key'],
      [{ iter_first_key: '1000000::e', sort: 'event_name' }, 'iter_first_key'],
      [{ event_id: long }, 'event_id'],
      [{ count_total: 'yes' }, 'count_total'],
    ];
    for (const [members, member] of cases) {
      const { status, body } = await api.call('POST', QUERY, { body: members });
      expect([members, status, Object.keys(body.details)]).toEqual([members, 400, [member]]);
      const query = new URLSearchParams(members as Record<string, string>);
      const get = await api.call('GET', `/v1/events?${query.toString()}`);
      expect([members, get.status, Object.keys(get.body.details)]).toEqual([
        members,
        400,
        [member],
      ]);
    }
    const filters = [{ a: [] }, { '': ['x'] }, { [long]: ['x'] }, many];
    for (const property_filters of filters) {
      const { status, body } = await api.call('POST', QUERY, { body: { property_filters } });
      expect([status, Object.keys(body.details)]).toEqual([400, ['property_filters']]);
    }
    for (const property_filters of ['a', ':b', 'a:b;a:c']) {
      const query = new URLSearchParams({ property_filters });
      const { status, body } = await api.call('GET', `/v1/events?${query.toString()}`);
      expect([status, Object.keys(body.details)]).toEqual([400, ['property_filters']]);
    }
    const { status, body } = await api.call('POST', QUERY, { body: { page: 1 } });
    expect([status, Object.keys(body.details)]).toEqual([400, ['page']]);
  });

  test('show nothing of another tenant, not even by a key', async ({
    api,
    database,
    clickhouse,
  }) => {
    await storeLogEvents(clickhouse.client, api.environment, EVENTS);
    const other = await makeKey(database.database, {});
    const headers = { 'x-api-key': other.apiKey };
    const queryIds = async (body: object) =>
      api.call('POST', QUERY, { body: { ...RANGE, count_total: true, ...body }, headers });
    expect((await queryIds({})).body).toMatchObject({
      events: [],
      total_count: 0,
      has_more: false,
    });
    expect((await queryIds({ event_id: 'e03' })).body.events).toEqual([]);
    const key = formatEventPageKey({
      eventId: 'e03',
      timestampMs: Date.parse(EVENTS[3]?.at ?? ''),
    });
    expect((await queryIds({ iter_last_key: key, sort: 'event_name' })).status).toBe(400);
    for (const [roles, status] of [
      ['event_reader', 200],
      ['all_reader', 200],
      ['event_ingestor', 403],
    ] as const) {
      const reader = await makeKey(database.database, {
        roles: [roles],
        environment: api.environment,
      });
      const answer = await api.call('POST', QUERY, {
        body: {},
        headers: { 'x-api-key': reader.apiKey },
      });
      expect([roles, answer.status]).toEqual([roles, status]);
    }
  });
});

describe('GET /events/conflicts', () => {
  const duplicate = (n: number) => ({
    event_name: 'call',
    external_customer_id: 'acme',
    customer_id: null,
    source: 'web',
    timestamp: '2026-10-01T12:00:00.000Z',
    properties: { n: String(n) },
  });
  const path = '/v1/events/conflicts';

  test('shows what counts beside what differs, newest first', async ({ api, clickhouse }) => {
    await storeLogEvents(clickhouse.client, api.environment, EVENTS);
    const place = { logId: 'log', partition: 0, offset: 900_001 };
    const duplicates = [
      { id: 'e01', receivedAt: '2026-10-05T00:00:00.000Z', payload: duplicate(1), place },
      { id: 'e01', receivedAt: '2026-10-06T00:00:00.000Z', payload: duplicate(2) },
      { id: 'e02', receivedAt: '2026-10-07T00:00:00.000Z', payload: duplicate(3) },
      { id: 'e02', receivedAt: '2026-10-07T00:00:00.000Z', payload: null },
    ];
    await storeLogDuplicates(clickhouse.client, api.environment, duplicates);
    // The aggregator may write a duplicate twice; it is one and the same place of the log.
    await storeLogDuplicates(clickhouse.client, api.environment, duplicates.slice(0, 1));
    const { body } = await api.call('GET', path);
    expect(body.pagination).toEqual({ limit: 50, offset: 0, total: 3 });
    const shown = body.items.map((item: Record<'event_id' | 'repeat', unknown>) => [
      item.event_id,
      item.repeat,
    ]);
    expect(shown).toEqual([
      ['e02', duplicate(3)],
      ['e01', duplicate(2)],
      ['e01', duplicate(1)],
    ]);
    expect(body.items[1].first).toEqual({
      event_name: 'call',
      external_customer_id: 'acme',
      customer_id: null,
      source: '',
      timestamp: '2026-10-01T12:00:00.001Z',
      properties: { region: 'us', n: '1' },
    });
    expect(body.items[1].received_at).toBe('2026-10-06T00:00:00.000Z');
    const paged = await api.call('GET', `${path}?limit=1&offset=1`);
    expect(paged.body.pagination).toEqual({ limit: 1, offset: 1, total: 3 });
    expect(paged.body.items).toEqual([body.items[1]]);
    const some = `${path}?event_id=e01&start_time=2026-10-05T00:00:00Z&end_time=2026-10-06T00:00:00Z`;
    expect((await api.call('GET', some)).body.items).toEqual([body.items[2]]);
  });

  test('shows none of another tenant, and refuses what breaks a rule', async ({
    api,
    database,
    clickhouse,
  }) => {
    await storeLogDuplicates(clickhouse.client, api.environment, [
      { id: 'e01', receivedAt: '2026-10-05T00:00:00.000Z', payload: duplicate(1) },
    ]);
    const [mine] = (await api.call('GET', path)).body.items;
    expect(mine.first).toBeNull();
    const other = await makeKey(database.database, {});
    const theirs = await api.call('GET', path, { headers: { 'x-api-key': other.apiKey } });
    expect(theirs.body).toMatchObject({ items: [], pagination: { total: 0 } });
    for (const [query, member] of [
      ['limit=0', 'limit'],
      ['limit=1001', 'limit'],
      ['offset=-1', 'offset'],
      ['start_time=x', 'start_time'],
      ['start_time=2026-10-02T00:00:00Z&end_time=2026-10-01T00:00:00Z', 'end_time'],
    ]) {
      const { status, body } = await api.call('GET', `${path}?${query}`);
      expect([query, status, Object.keys(body.details)]).toEqual([query, 400, [member]]);
    }
  });
});
