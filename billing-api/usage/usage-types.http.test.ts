import { describe, expect } from 'vitest';
import { AGGREGATION_TYPES, type AggregationType } from '../../contract/aggregation.js';
import type { Database } from '../../sql/pool.js';
import { test } from '../testing/billing-test.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { storeEvents, type StoredEvent, type UsageTarget } from '../testing/write-usage-minutes.js';
import { generationOf } from '../testing/meter-generation.js';

const RANGE = { start_time: '2026-10-01T00:00:00Z', end_time: '2026-10-31T00:00:00Z' };
const USAGE = '/v1/events/usage/meter';

/** What POST /meters takes, and the same aggregation as the usage rows are made with. */
function meterOf(type: AggregationType) {
  const field = type === 'COUNT' ? undefined : 'v';
  const multiplier = type === 'SUM_WITH_MULTIPLIER' ? '2' : undefined;
  return {
    body: { type, field, multiplier },
    aggregation: {
      type,
      field: field ?? null,
      expression: null,
      multiplier: multiplier ?? null,
      groupBy: null,
    },
  };
}

async function makeTarget(
  api: BillingUnderTest,
  database: Database,
  options: { readonly type: AggregationType; readonly members?: object },
): Promise<UsageTarget> {
  const { body, aggregation } = meterOf(options.type);
  const { id } = await api.make('/v1/meters', {
    name: options.type,
    event_name: 'call',
    aggregation: body,
    ...options.members,
  });
  const generation = await generationOf(database, id);
  return { environment: api.environment, meterId: id, generation, aggregation };
}

/** Days of October 2026 and the property `v`; null for an event without it. */
const eventsOf = (
  ...pairs: readonly (readonly [at: string, v: string | null])[]
): readonly StoredEvent[] =>
  pairs.map(([at, v]) => ({
    at: `2026-10-${at}Z`,
    properties: v === null ? { a: 'b' } : { a: 'b', v },
  }));

const EVENTS = eventsOf(
  ['01T00:00:00.000', '10'],
  ['16T00:00:00.000', '10'],
  ['20T10:00:30.500', '3.000000000000000001'],
  ['20T10:00:30.500', '1e-30'],
  ['21T00:00:00.000', 'much'],
  ['22T00:00:00.000', null],
);

/** Of the whole month; the weighted sum by hand: 10 + 5 + 3.000000000000000001 × 10.583 days. */
const VALUES: Readonly<Record<AggregationType, readonly [value: string, unreadable: number]>> = {
  COUNT: ['6', 0],
  SUM: ['23.000000000000000001', 2],
  SUM_WITH_MULTIPLIER: ['46.000000000000000002', 2],
  AVG: ['3.833333333333333334', 2],
  MAX: ['10', 2],
  MIN: ['0', 2],
  LATEST: ['0', 2],
  COUNT_UNIQUE: ['4', 1],
  WEIGHTED_SUM: ['16.058298032407407408', 2],
};

describe('usage of every aggregation', () => {
  test('is exact, from minutes and from events alike', async ({ api, database, clickhouse }) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    const targets = new Map<AggregationType, UsageTarget>();
    for (const type of AGGREGATION_TYPES) {
      targets.set(type, await makeTarget(api, database.database, { type }));
    }
    const countsOn = [...targets.values()];
    await storeEvents(
      { database, clickhouse },
      api.environment,
      EVENTS.map((event) => ({ ...event, countsOn })),
    );
    const query = { ...RANGE, external_customer_id: 'acme' };
    for (const [type, target] of targets) {
      const [value, unreadable] = VALUES[type];
      const ofMeter = { ...query, meter_id: target.meterId };
      const whole = await api.make(USAGE, ofMeter);
      expect([type, whole.value, whole.unreadable_count]).toEqual([type, value, unreadable]);
      const narrowed = await api.make(USAGE, { ...ofMeter, filters: { a: ['b'] } });
      expect([type, narrowed.value, narrowed.unreadable_count]).toEqual([type, value, unreadable]);
      const adHoc = await api.make('/v1/events/usage', {
        ...query,
        event_name: 'call',
        aggregation_type: type,
        ...(type === 'COUNT' ? {} : { property_name: 'v' }),
        ...(type === 'SUM_WITH_MULTIPLIER' ? { multiplier: '2' } : {}),
      });
      expect([type, adHoc.value, adHoc.unreadable_count]).toEqual([type, value, unreadable]);
    }
  });

  test('leaves what cannot be read out of a MIN, from minutes and from events alike', async ({
    api,
    database,
    clickhouse,
  }) => {
    await api.make('/v1/customers', { external_id: 'acme' });
    const target = await makeTarget(api, database.database, { type: 'MIN' });
    const events = eventsOf(
      ['02T10:00:10.000', '7'],
      ['02T10:00:20.000', 'much'],
      ['02T12:00:00.000', '2.5'],
      ['03T00:00:00.000', null],
      ['04T00:00:00.000', '3'],
      ['04T23:59:59.999', '-1'],
    );
    await storeEvents(
      { database, clickhouse },
      api.environment,
      events.map((event) => ({ ...event, countsOn: [target] })),
    );
    const query = {
      start_time: '2026-10-01T00:00:00Z',
      end_time: '2026-10-05T00:00:00Z',
      external_customer_id: 'acme',
      window_size: 'DAY',
    };
    const ofMeter = { ...query, meter_id: target.meterId };
    const adHoc = { ...query, event_name: 'call', aggregation_type: 'MIN', property_name: 'v' };
    for (const answer of [
      await api.make(USAGE, ofMeter),
      await api.make(USAGE, { ...ofMeter, filters: { a: ['b'] } }),
      await api.make('/v1/events/usage', adHoc),
    ]) {
      const { value, unreadable_count: unreadable, results } = answer;
      expect([value, unreadable]).toEqual(['0', 2]);
      const days = results.map((day: { readonly value: string }) => day.value);
      expect(days).toEqual(['0', '2.5', '0', '0']);
    }
    // From inside the minute of what cannot be read until before the negative value.
    const edges = { start_time: '2026-10-02T10:00:10Z', end_time: '2026-10-04T23:59:59.999Z' };
    const { value, unreadable_count: unreadable } = await api.make(USAGE, { ...ofMeter, ...edges });
    expect([value, unreadable]).toEqual(['2.5', 2]);
  });
});
