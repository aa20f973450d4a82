import { build, type Histogram } from 'hdr-histogram-js';
import { Client } from 'pg';
import { ApiClient } from '../../cli/look/api-client.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import { createMonthCustomers, customerName, findPlaces } from './minute-rows.js';
import { onBench } from './programs.js';
import { atMost, grouped, type Finding, type Measurement, type Section } from './section.js';

const CUSTOMERS = 100_000;
const EVENTS = 1_000_000;
const CALLS = 40;
const WARM_UP_CALLS = 5;
const LIST_MS_MAX = 200;

type Created = { readonly id: string };
type List = readonly [name: string, read: (api: ApiClient) => Promise<unknown>];

/** What the screens of lists read first, as `web/screens` asks for it. */
const LISTS: readonly List[] = [
  ['customers', (api) => api.post('/customers/search', { limit: 50, offset: 0 })],
  [
    'customers by a part of the name',
    (api) =>
      api.post('/customers/search', {
        limit: 50,
        filters: [
          {
            field: 'name',
            operator: 'contains',
            data_type: 'string',
            value: { string: 'Customer 99' },
          },
        ],
      }),
  ],
  [
    'invoices',
    (api) =>
      api.post('/invoices/search', {
        limit: 50,
        offset: 0,
        skip_line_items: true,
        expand: 'customer,subscription',
      }),
  ],
  [
    'drafts',
    (api) =>
      api.post('/invoices/search', {
        limit: 1,
        skip_line_items: true,
        invoice_status: ['DRAFT'],
      }),
  ],
  [
    'subscriptions by the end of their periods',
    (api) =>
      api.post('/subscriptions/search', {
        limit: 20,
        subscription_status: ['active'],
        sort: [{ field: 'current_period_end', direction: 'asc' }],
        expand: 'customer,plan',
      }),
  ],
  ['wallets', (api) => api.post('/wallets/search', { limit: 50, expand: 'customer' })],
  ['events', (api) => api.get('/events?page_size=50&start_time=2000-01-01T00:00:00Z')],
];

/** One of each record, made by the interface. */
async function makeFirst(api: ApiClient): Promise<void> {
  const { id: planId } = await api.post<Created>('/plans', { name: 'Lists' });
  await api.post('/prices', { entity_id: planId, currency: 'usd', amount: '10' });
  await createMonthCustomers(api, 1);
  const customer = { external_customer_id: customerName(0) };
  await api.post('/subscriptions', {
    ...customer,
    plan_id: planId,
    currency: 'usd',
    billing_period: 'MONTHLY',
  });
  await api.post('/wallets', { ...customer, currency: 'usd', name: 'Credits' });
  const { items } = await api.post<{ readonly items: readonly Created[] }>('/customers/search', {});
  await api.post('/invoices', {
    customer_id: items[0]?.id ?? '',
    currency: 'usd',
    subtotal: '5',
    total: '5',
    amount_due: '5',
    line_items: [{ display_name: 'Setup', amount: '5' }],
  });
}

/** Members of a copy that must differ from those of the first record, as SQL over its number. */
const COPIES: Readonly<Record<string, string>> = {
  customers: `'external_id', 'copy-' || n, 'name', 'Customer ' || n`,
  subscriptions: `'customer_id', 'cust_' || lpad(n::text, 26, '0'), 'lookup_key', null`,
  invoices: `'customer_id', 'cust_' || lpad(n::text, 26, '0'), 'invoice_number', 'COPY-' || n,
    'subscription_id', 'subs_' || lpad(n::text, 26, '0')`,
  wallets: `'customer_id', 'cust_' || lpad(n::text, 26, '0')`,
};

/** Copies the first record of each table; what is copied is read, and never billed. */
async function copyRecords(database: Client, count: number): Promise<void> {
  // No triggers: copies have no history.
  await database.query(`SET session_replication_role = replica`);
  for (const [table, members] of Object.entries(COPIES)) {
    await database.query(`
      INSERT INTO ${table}
      SELECT (jsonb_populate_record(first, jsonb_build_object(
        'id', left((first).id, length((first).id) - 26) || lpad(n::text, 26, '0'),
        'created_at', (first).created_at - make_interval(secs => n), ${members}))).*
      FROM (SELECT one FROM ${table} AS one ORDER BY created_at, id LIMIT 1) AS source (first),
        generate_series(1, ${count}) AS n`);
    await database.query(`ANALYZE ${table}`);
  }
}

/** Copies the only event over as many seconds, for a thousand customers. */
function copyEvents(clickhouse: ClickHouse, count: number): Promise<unknown> {
  return clickhouse.command(`
    INSERT INTO events_v1
    SELECT * EXCEPT (number) REPLACE (
      concat('copy-', toString(number)) AS event_id,
      concat('e:copy-', toString(number % 1000)) AS customer_key,
      timestamp + toIntervalSecond(number) AS timestamp,
      toUInt64(1000000 + number) AS log_offset)
    FROM (SELECT * FROM events_v1 LIMIT 1) AS event CROSS JOIN numbers(${count}) AS copy`);
}

async function timesOf(api: ApiClient, read: List[1]): Promise<Histogram> {
  const times = build({ highestTrackableValue: 60_000_000, useWebAssembly: false });
  for (let call = 0; call < WARM_UP_CALLS + CALLS; call += 1) {
    const startedAt = performance.now();
    await read(api);
    const took = performance.now() - startedAt;
    if (call >= WARM_UP_CALLS) times.recordValue(Math.round(took * 1000));
  }
  return times;
}

const msAt = (times: Histogram, at: number): number => times.getValueAtPercentile(at) / 1000;

function findingsOf(name: string, times: Histogram): readonly Finding[] {
  return [
    atMost({ id: 'console', what: `${name}, p95`, unit: 'ms' }, msAt(times, 95), LIST_MS_MAX),
    {
      id: 'console',
      what: `${name}, median`,
      value: `${msAt(times, 50).toFixed(1)} ms`,
      target: '',
      isReached: null,
    },
  ];
}

/** The first page of every list of the console over 100,000 customers and a million events. */
export const measureConsoleLists: Measurement = (_options, progress): Promise<Section> =>
  onBench(
    async (bench, clickhouse) => {
      progress(0, 'making records');
      const billing = await bench.start('billing-api');
      const api = new ApiClient(`${billing.url}/v1`, bench.apiKey);
      await api.post('/meters', {
        name: 'Calls',
        event_name: 'call',
        aggregation: { type: 'COUNT' },
      });
      await makeFirst(api);
      await findPlaces({ bench, clickhouse }, { eventName: 'call', count: 1 });
      const database = new Client({ connectionString: bench.engines.ownerDatabaseUrl });
      await database.connect();
      try {
        await copyRecords(database, CUSTOMERS);
      } finally {
        await database.end();
      }
      progress(0.4, 'copying events');
      await copyEvents(clickhouse, EVENTS);
      const findings: Finding[] = [];
      for (const [name, read] of LISTS) {
        progress(0.5, name);
        findings.push(...findingsOf(name, await timesOf(api, read)));
      }
      return {
        title: 'Lists of the console',
        findings,
        plots: [],
        notes: [
          `${grouped(CUSTOMERS)} customers, subscriptions, invoices and wallets, ${grouped(EVENTS)} events; ${CALLS} calls of each, one after another.`,
        ],
      };
    },
    { requestTimeoutMs: 600_000 },
  );
