import { describe, expect } from 'vitest';
import { decimalOf, plain, sumOf } from '../../../contract/number/decimal.js';
import { test as billedTest } from '../../testing/billed-test.js';
import { makeExportWorld, type ExportWorld } from '../../testing/export-world.js';
import type { Answer } from '../../testing/money-test.js';
import { startObjectStore, type ObjectStore } from '../../testing/object-store.js';
import { makePricedPlan } from '../../testing/priced-plan.js';

type Cells = Readonly<Record<string, string>>;
type World = ExportWorld & {
  readonly store: ObjectStore;
  /** The rows of all files of usage, in the order of their windows. */
  readonly rows: () => readonly Cells[];
  readonly manifests: () => readonly Answer[];
};

const test = billedTest.extend<{ world: World }>({
  world: async ({ api, database, clickhouse }, use) => {
    const store = await startObjectStore();
    const engines = { database, clickhouse };
    const start = { url: store.url, now: '2026-03-01T00:00:00.000Z' };
    const world = await makeExportWorld(api, engines, start);
    const texts = (ending: string) =>
      [...store.objects]
        .filter(([key]) => key.includes('usage_analytics') && key.endsWith(ending))
        .sort(([left], [right]) => (left < right ? -1 : 1))
        .map(([, { body }]) => body.toString());
    await use({
      ...world,
      store,
      rows: () =>
        texts('.csv').flatMap((text) => {
          const [header = '', ...lines] = text.split('\r\n').slice(0, -1);
          const names = header.split(',');
          return lines.map((line) => {
            const cells = line.split(',');
            return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? '']));
          });
        }),
      manifests: () => texts('.manifest.json').map((text) => JSON.parse(text) as Answer),
    });
    await store.close();
  },
});

const TIERED = {
  billing_model: 'TIERED',
  tier_mode: 'SLAB',
  tiers: [
    { up_to: 1000, unit_amount: '0.013' },
    { up_to: null, unit_amount: '0.007' },
  ],
};

/** A day's events of the meter, of two sources, at noon. */
const noonOf = (day: number, n: string, source: string) => ({
  at: `2026-03-${String(day).padStart(2, '0')}T12:00:00.000Z`,
  source,
  properties: { n },
});

const DAYS = Array.from({ length: 31 }, (_none, index) => index + 1);

const daily = { interval: 'daily' };
const sumOfCosts = (rows: readonly Cells[]) =>
  plain(sumOf(rows.flatMap(({ total_cost: cost = '' }) => (cost === '' ? [] : [decimalOf(cost)]))));

describe('a file of usage', () => {
  test('has a row for each customer, feature and source, with what its window has added', async ({
    api,
    database,
    clickhouse,
    world,
  }) => {
    const terms = { meter: { type: 'SUM', field: 'n' }, price: TIERED } as const;
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    const feature = await api.make('/v1/features', {
      name: 'Calls',
      type: 'metered',
      meter_id: plan.meterId,
      lookup_key: 'calls',
    });
    await plan.subscribe({ start_date: '2026-03-01T00:00:00Z' });
    const { items } = await api.make('/v1/customers/search', { external_ids: ['acme'] });
    const named = { name: 'Acme', metadata: { team: 'red' } };
    await api.call('PUT', `/v1/customers/${items[0].id}`, { body: named });
    const fields = [{ entity_type: 'customer', field_key: 'team' }];
    await world.schedule('usage_analytics', daily, { export_metadata_fields: fields });
    await plan.count([noonOf(1, '600', 'web'), noonOf(1, '300', 'app'), noonOf(1, '1', 'app')]);
    await world.work('2026-03-02T00:20:00.000Z');
    await plan.count([noonOf(2, '200', 'web')]);
    await world.work('2026-03-03T00:20:00.000Z');
    const common = {
      customer_name: 'Acme',
      customer_id: items[0].id,
      customer_external_id: 'acme',
      feature_name: 'Calls',
      feature_id: feature.id,
      feature_group_name: '',
      event_name: 'call',
      aggregation_type: 'SUM',
      currency: 'usd',
      team: 'red',
    };
    const day = (from: string, to: string) => ({
      start_time: `2026-03-${from}T00:00:00.000Z`,
      end_time: `2026-03-${to}T00:00:00.000Z`,
    });
    // 901 × 0.013 = 11.71; then 99 × 0.013 + 101 × 0.007, as the invoice would say: 13.71 so far.
    expect(world.rows()).toEqual([
      {
        ...common,
        ...day('01', '02'),
        source: 'app',
        event_count: '2',
        total_usage: '301',
        total_cost: '3.91',
      },
      {
        ...common,
        ...day('01', '02'),
        source: 'web',
        event_count: '1',
        total_usage: '600',
        total_cost: '7.80',
      },
      {
        ...common,
        ...day('02', '03'),
        source: 'web',
        event_count: '1',
        total_usage: '200',
        total_cost: '2.00',
      },
    ]);
    expect(world.manifests()).toMatchObject([
      { record_count: 2, late_count: 0, sums: { event_count: '3' } },
      { sums: { event_count: '1', total_cost: { usd: '2' } } },
    ]);
  });

  test('is the same when its window is exported again, and tells of late events in the next one', async ({
    api,
    database,
    clickhouse,
    world,
  }) => {
    const terms = { meter: { type: 'SUM', field: 'n' }, price: TIERED } as const;
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    await plan.subscribe({ start_date: '2026-03-01T00:00:00Z' });
    const scheduled = await world.schedule('usage_analytics', daily);
    await plan.count([noonOf(1, '900', 'web')]);
    await world.work('2026-03-02T00:20:00.000Z');
    const first = [...world.store.objects].map(([key, { body }]) => [key, body.toString()]);
    const late = { receivedAt: '2026-03-02T09:00:00.000Z' };
    await plan.count([{ ...noonOf(1, '150', 'app'), ...late }, noonOf(2, '10', 'web')]);
    const window = { start_time: '2026-03-01T00:00:00Z', end_time: '2026-03-02T00:00:00Z' };
    await api.call('POST', `/v1/tasks/scheduled/${scheduled.id}/run`, { body: window });
    await world.work('2026-03-02T10:00:00.000Z');
    expect([...world.store.objects].map(([key, { body }]) => [key, body.toString()])).toEqual(
      first,
    );
    await world.work('2026-03-03T00:20:00.000Z');
    // 1,050 cost 13.35, so the late 150 add 1.65; 10 more add 0.07.
    expect(world.rows().slice(1)).toMatchObject([
      {
        start_time: '2026-03-01T12:00:00.000Z',
        end_time: '2026-03-02T00:00:00.000Z',
        source: 'app',
        event_count: '1',
        total_usage: '150',
        total_cost: '1.65',
      },
      {
        start_time: '2026-03-02T00:00:00.000Z',
        end_time: '2026-03-03T00:00:00.000Z',
        source: 'web',
        event_count: '1',
        total_usage: '10',
        total_cost: '0.07',
      },
    ]);
    expect(world.manifests()[1]).toMatchObject({ record_count: 2, late_count: 1 });
  });

  test('of all days of a month add up to its invoice, with overage, true-up and late events', async ({
    api,
    database,
    clickhouse,
    world,
    bill,
  }) => {
    const terms = { meter: { type: 'SUM', field: 'n' }, price: TIERED } as const;
    const plan = await makePricedPlan(api, { database, clickhouse }, terms);
    const commitment = (amount: string) => ({
      commitment_amount: amount,
      enable_true_up: true,
      overage_factor: '1.5',
      start_date: '2026-03-01T00:00:00Z',
    });
    // One that is exceeded, and one of a customer who uses nothing.
    await plan.subscribe(commitment('10'));
    await api.make('/v1/customers', { external_id: 'quiet', name: 'Quiet' });
    await plan.subscribe({ ...commitment('25'), external_customer_id: 'quiet' });
    await world.schedule('usage_analytics', daily);
    for (const day of DAYS) {
      const late = { receivedAt: `2026-03-${String(day).padStart(2, '0')}T12:00:00.000Z` };
      await plan.count([
        noonOf(day, String(day * 7), 'web'),
        noonOf(day, '5.5', ''),
        ...(day % 10 === 0 ? [{ ...noonOf(day - 3, '40', 'app'), ...late }] : []),
      ]);
      const next = new Date(Date.UTC(2026, 2, day + 1)).toISOString().slice(0, 10);
      await world.work(`${next}T00:20:00.000Z`);
    }
    await bill('2026-04-02T12:00:00.000Z');
    const { items } = await api.make('/v1/invoices/search', { limit: 100 });
    const totals = items
      .filter(({ period_start: start }: Answer) => start === '2026-03-01T00:00:00.000Z')
      .map(({ total }: Answer) => decimalOf(total));
    expect(totals).toHaveLength(2);
    const rows = world.rows();
    expect(sumOfCosts(rows)).toBe(plain(sumOf(totals)));
    const of = (name: string) => rows.filter(({ customer_external_id: id }) => id === name);
    expect(of('quiet')).toMatchObject([
      {
        total_cost: '25.00',
        source: '',
        feature_id: '',
        event_count: '0',
        start_time: '2026-03-31T00:00:00.000Z',
      },
    ]);
    // Sources have what lies within the commitment; what lies beyond is on rows without one.
    const bySource = (name: string) =>
      sumOfCosts(of('acme').filter((row) => row['source'] === name));
    expect(plain(decimalOf(bySource('web')).plus(bySource('app')))).toMatch(/^9\.\d\d?$/);
    const counts = sumOf(of('acme').map(({ event_count: count = '' }) => decimalOf(count)));
    expect(plain(counts)).toBe('65');
  });
});
