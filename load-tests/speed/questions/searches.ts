import { parseArgs } from 'node:util';
import { build, type Histogram } from 'hdr-histogram-js';
import pg from 'pg';
import { ApiClient } from '../../../cli/demo/api-client.js';
import { tableLines } from '../../../cli/demo/tables.js';
import { machineFacts } from '../../harness/machine-facts.js';
import { Bench } from '../programs.js';
import { writeResults } from './write-results.js';

/**
 * How long a search takes among many records, beside the same statements in plain SQL and beside
 * a request for one record, in turns:
 * `npm run measure -- searches [--customers 1000000] [--prices 50000] [--calls 1000]`. Every answer
 * of the service must have the ids and the total of the plain statements.
 */
const WARM_UP_CALLS = 20;
const TIMES_MAX = 3;
/** The service counts so many matches beyond the page (docs/http.md 1.6). */
const COUNTED_BEYOND_PAGE_MAX = 10_000;
const LIMIT = 50;

type Created = { readonly id: string };
type Found = {
  readonly items: readonly Created[];
  readonly pagination: { readonly total: number };
};

/** A search: what the service is asked, and what the plain statement looks for. */
type Search = {
  readonly name: string;
  readonly table: 'customers' | 'prices';
  /** With another value in every call, so that nothing is only measured in a cache. */
  readonly body: (call: number) => object;
  readonly where: (call: number) => string;
  readonly order: string;
  /** A single record of the table, for what a request costs that asks for next to nothing. */
  readonly one: (call: number) => string;
};

const NEWEST = 'created_at DESC, id DESC';
const LIVE = '(end_date IS NULL OR end_date > now())';

function searchesOf(customers: number): readonly Search[] {
  const at = (call: number): number => ((call * 7_919) % customers) + 1;
  const several = (call: number): string[] =>
    Array.from({ length: LIMIT }, (_, n) => `customer-${at(call * LIMIT + n)}`);
  const customer = (call: number): string => `/customers/cust_${at(call)}`;
  const price = (call: number): string => `/prices/price_${(call % 20) + 1}`;
  return [
    {
      ...{ name: 'customers: newest page', table: 'customers', order: NEWEST },
      one: customer,
      body: () => ({}),
      where: () => 'true',
    },
    {
      ...{ name: 'customers: by name', table: 'customers', order: 'name ASC, id ASC' },
      one: customer,
      body: () => ({ sort: [{ field: 'name', direction: 'asc' }] }),
      where: () => 'true',
    },
    {
      ...{ name: 'customers: one e-mail address', table: 'customers', order: NEWEST },
      one: customer,
      body: (call) => ({ email: `c${at(call)}@acme.example` }),
      where: (call) => `email = 'c${at(call)}@acme.example'`,
    },
    {
      ...{ name: 'customers: 50 external ids', table: 'customers', order: NEWEST },
      one: customer,
      body: (call) => ({ external_ids: several(call) }),
      where: (call) => `external_id = ANY ('{${several(call).join()}}')`,
    },
    {
      ...{ name: 'prices: newest page', table: 'prices', order: NEWEST },
      one: price,
      body: () => ({}),
      where: () => LIVE,
    },
    {
      ...{ name: 'prices: of one plan', table: 'prices', order: NEWEST },
      one: price,
      body: (call) => ({ plan_ids: [`plan_${(call % 20) + 1}`] }),
      where: (call) => `${LIVE} AND entity_type = 'PLAN' AND entity_id = 'plan_${(call % 20) + 1}'`,
    },
  ];
}

type Copies = {
  readonly table: string;
  /** Expressions over `n`, the number of the copy, for the members that differ. */
  readonly members: string;
  readonly count: number;
};

/**
 * Copies of the first row that the service made. The indexes but that of the primary key are built
 * once all rows are there, by their own definitions, which takes a fraction of the time.
 */
async function copyRows(owner: pg.Client, { table, members, count }: Copies): Promise<void> {
  const { rows: indexes } = await owner.query<{ name: string; definition: string }>(
    `SELECT relname AS name, pg_get_indexdef(indexrelid) AS definition
     FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
     WHERE indrelid = $1::regclass
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
    [table],
  );
  for (const { name } of indexes) await owner.query(`DROP INDEX ${name}`);
  await owner.query(
    `INSERT INTO ${table} SELECT (jsonb_populate_record(source, jsonb_build_object(${members}))).*
     FROM ${table} AS source, generate_series(1, ${count}) AS n
     WHERE source.id = (SELECT min(id) FROM ${table})`,
  );
  for (const { definition } of indexes) await owner.query(definition);
}

async function fill(owner: pg.Client, customers: number, prices: number): Promise<void> {
  await owner.query(`SET synchronous_commit = off`);
  await owner.query(`SET maintenance_work_mem = '256MB'`);
  const copy = (table: string, members: string, count: number) =>
    copyRows(owner, { table, members, count });
  const created = `'created_at', timestamptz '2025-01-01' + n * interval '1 s'`;
  await copy('plans', `'id', 'plan_' || n, 'name', 'Plan ' || n`, 20);
  const owned = `'entity_id', 'plan_' || n % 20 + 1, 'sequence', n / 20 + 10`;
  await copy('prices', `'id', 'price_' || n, ${owned}, ${created}`, prices);
  const named = `'external_id', 'customer-' || n, 'name', 'Customer ' || md5(n::text)`;
  const email = `'email', 'c' || n || '@acme.example'`;
  await copy('customers', `'id', 'cust_' || n, ${named}, ${email}, ${created}`, customers);
  await owner.query('VACUUM ANALYZE customers, prices, plans');
}

type World = {
  readonly api: ApiClient;
  readonly owner: pg.Client;
  /** The condition that the rows are of the environment, as the owner must say it. */
  readonly own: string;
};

function statementsOf({ table, where, order }: Search, own: string, call: number) {
  const matches = `FROM ${table} WHERE status = 'published' AND ${where(call)} AND ${own}`;
  const counted = LIMIT + COUNTED_BEYOND_PAGE_MAX + 1;
  return {
    page: `SELECT * ${matches} ORDER BY ${order} LIMIT ${LIMIT}`,
    total: `SELECT count(*)::integer AS total FROM (SELECT ${matches} LIMIT ${counted}) AS counted`,
  };
}

async function askPlain({ owner, own }: World, search: Search, call: number): Promise<Found> {
  const { page, total } = statementsOf(search, own, call);
  const { rows: items } = await owner.query<Created>(page);
  if (items.length < LIMIT) return { items, pagination: { total: items.length } };
  const { rows } = await owner.query<{ total: number }>(total);
  const most = LIMIT + COUNTED_BEYOND_PAGE_MAX;
  return { items, pagination: { total: Math.min(rows[0]?.total ?? 0, most) } };
}

const askService = ({ api }: World, search: Search, call: number): Promise<Found> =>
  api.post<Found>(`/${search.table}/search`, search.body(call));

const shown = ({ items, pagination }: Found): string =>
  `${items.map(({ id }) => id).join()} of ${pagination.total}`;

async function askOne({ api }: World, path: string): Promise<string> {
  return (await api.get<Created>(path)).id;
}

async function timed<Answer>(times: Histogram, work: () => Promise<Answer>): Promise<Answer> {
  const startedAt = performance.now();
  const answer = await work();
  times.recordValue(Math.round((performance.now() - startedAt) * 1000));
  return answer;
}

const createTimes = (): Histogram =>
  build({ highestTrackableValue: 60_000_000, useWebAssembly: false });

/** `one`: what the service takes to answer a single record, with key, limits and transaction. */
type Times = {
  readonly plain: Histogram;
  readonly service: Histogram;
  readonly one: Histogram;
};

const createAllTimes = (): Times => ({
  plain: createTimes(),
  service: createTimes(),
  one: createTimes(),
});

async function askInTurns(world: World, search: Search, calls: number): Promise<Times> {
  let times = createAllTimes();
  for (let call = 0; call < WARM_UP_CALLS + calls; call += 1) {
    if (call === WARM_UP_CALLS) times = createAllTimes();
    const plain = shown(await timed(times.plain, () => askPlain(world, search, call)));
    const service = shown(await timed(times.service, () => askService(world, search, call)));
    const path = search.one(call);
    const one = await timed(times.one, () => askOne(world, path));
    if (!path.endsWith(one)) throw new Error(`${path} answers ${one}`);
    if (plain !== service) throw new Error(`${search.name}: ${service} instead of ${plain}`);
  }
  return times;
}

async function plansOf({ owner, own }: World, search: Search): Promise<readonly string[]> {
  const found: string[] = [];
  for (const statement of Object.values(statementsOf(search, own, 1))) {
    const text = `EXPLAIN (ANALYZE, COSTS OFF, BUFFERS OFF) ${statement}`;
    const { rows } = await owner.query<{ 'QUERY PLAN': string }>(text);
    found.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
  }
  return found;
}

const msAt = (times: Histogram, at: number): number => times.getValueAtPercentile(at) / 1000;
const percentilesOf = (times: Histogram) => ({ p50: msAt(times, 50), p99: msAt(times, 99) });

async function measure(world: World, search: Search, calls: number) {
  const { plain, service, one } = await askInTurns(world, search, calls);
  const figures = {
    plainMs: percentilesOf(plain),
    serviceMs: percentilesOf(service),
    oneRecordMs: percentilesOf(one),
    times: { p50: msAt(service, 50) / msAt(plain, 50), p99: msAt(service, 99) / msAt(plain, 99) },
  };
  return { search: search.name, ...figures, plans: await plansOf(world, search) };
}

async function openWorld(bench: Bench): Promise<World> {
  const billing = await bench.start('billing-api');
  const api = new ApiClient(`${billing.url}/v1`, bench.apiKey);
  const { id: planId } = await api.post<Created>('/plans', { name: 'First' });
  await api.post<Created>('/prices', { entity_id: planId, currency: 'usd', amount: '9' });
  await api.post<Created>('/customers', { external_id: 'first' });
  const owner = new pg.Client({ connectionString: bench.engines.ownerDatabaseUrl });
  await owner.connect();
  const { rows } = await owner.query<{ own: string }>(
    `SELECT format('tenant_id = %L AND environment_id = %L', tenant_id, environment_id) AS own
     FROM customers`,
  );
  return { api, owner, own: rows[0]?.own ?? 'false' };
}

type Sizes = { readonly customers: number; readonly prices: number; readonly calls: number };

async function measureAll(bench: Bench, { customers, prices, calls }: Sizes) {
  const world = await openWorld(bench);
  try {
    const startedAt = performance.now();
    await fill(world.owner, customers, prices);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(`filled in ${seconds} s\n`);
    const results = [];
    for (const search of searchesOf(customers)) results.push(await measure(world, search, calls));
    return results;
  } finally {
    await world.owner.end();
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      customers: { type: 'string', default: '1000000' },
      prices: { type: 'string', default: '50000' },
      calls: { type: 'string', default: '1000' },
    },
  });
  const [customers, prices] = [Number(values.customers), Number(values.prices)];
  const bench = await Bench.open();
  try {
    const results = await measureAll(bench, { customers, prices, calls: Number(values.calls) });
    await writeResults('searches', { customers, prices, calls: values.calls, results });
    const rows = results.map(({ search, plainMs, serviceMs, oneRecordMs, times }) => [
      search,
      ...[plainMs, serviceMs, oneRecordMs].flatMap(({ p50, p99 }) => [
        p50.toFixed(1),
        p99.toFixed(1),
      ]),
      times.p50.toFixed(1),
      `${times.p99.toFixed(1)} ${times.p99 <= TIMES_MAX ? 'reached' : 'missed'}`,
    ]);
    const head = [
      ...['search', 'SQL p50 ms', 'p99', 'service p50 ms', 'p99', 'GET one p50 ms', 'p99'],
      ...['p50 ×', `p99 ≤ ${TIMES_MAX} ×`],
    ];
    const facts = machineFacts().map(([name, fact]) => `${name}: ${fact}`);
    process.stdout.write(`${[...facts, ...tableLines(head, rows)].join('\n')}\n`);
  } finally {
    await bench.close();
  }
}

await main();
