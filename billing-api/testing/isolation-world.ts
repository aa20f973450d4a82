import PQueue from 'p-queue';
import { sql } from 'slonik';
import { expect } from 'vitest';
import { z } from 'zod';
import type { ClickHouseDatabases } from '../../load-tests/harness/clickhouse-databases.js';
import { withFreshClickHouse, withFreshDatabase } from '../../load-tests/harness/fixtures.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import { createId } from '../../runtime/ids.js';
import type { Database } from '../../sql/pool.js';
import type { Operation } from '../edge/operation-table.js';
import { OPERATIONS } from '../generated/operations.js';
import { withBillingApi, type BillingUnderTest } from './billing-harness.js';
import { makeKey } from './billing-test.js';
import { fillEnvironment, FILLED_AT, type FilledEnvironment } from './filled-environment.js';
import { storeExpiredEvents, storeExpiredMonth } from './expire-month.js';
import { addressOf, sampleOf, type SampleRequest } from './sample-requests.js';

/** Environments that are filled alike, and the answers to the first while it was the only one. */
export type IsolationWorld = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  /** The environment whose key makes all requests. */
  readonly own: FilledEnvironment;
  /** Another environment of the same tenant, and one of another tenant. */
  readonly foreign: readonly FilledEnvironment[];
  /** What every reading operation answered while there was no other environment. */
  readonly alone: ReadonlyMap<string, string>;
};

/** All operations of this program that need a key. */
export const KEYED_OPERATIONS = OPERATIONS.filter(
  ({ isPublic, servedBy }) => !isPublic && servedBy === 'billing-api',
);
/** What a whole tenant shares: its environments see the same users, and each other. */
const OF_TENANT = new Set(['self', 'user', 'user_role', 'tenant', 'environment', 'secret']);

/** The environments whose records an operation must not know. */
export function foreignTo(
  { entity }: Operation,
  { own, foreign }: Pick<IsolationWorld, 'own' | 'foreign'>,
): readonly FilledEnvironment[] {
  const { tenantId } = own.environment;
  const isShared = OF_TENANT.has(entity ?? '');
  return foreign.filter(({ environment }) => !isShared || environment.tenantId !== tenantId);
}

/**
 * Whether an operation answers the same, however many environments the tenant has, and whenever it
 * is asked: what a preview would make has other ids each time.
 */
function isAlone({ id }: Operation): boolean {
  return !['ListEnvironments', 'SearchUsers', 'PreviewModification'].includes(id);
}

const reading = KEYED_OPERATIONS.filter(({ access }) => access === 'read');

/** Requests that change nothing, side by side; fewer than the pool of the API has connections. */
const AT_A_TIME = 6;
/** The lag of the log is that of all tenants together. */
const COMMON = /"consumption_lag":\d+/;

/** The answer to a request of this environment, with its status in front of the text. */
export async function send(
  { call }: FilledEnvironment,
  { method, path }: Operation,
  request: SampleRequest,
): Promise<{ readonly status: number; readonly text: string }> {
  const options = request.body === undefined ? {} : { body: request.body };
  const { status, body } = await call(method, addressOf(path, request), options);
  return { status, text: `${status} ${JSON.stringify(body)}`.replace(COMMON, '') };
}

/** The request of a list or search that asks for everything. */
function widest({ path, queryNames }: Operation, sample: SampleRequest): SampleRequest {
  if (path.endsWith('/search')) return { ...sample, body: { limit: 1000 } };
  if (!queryNames.includes('limit')) return sample;
  return { ...sample, query: { ...sample.query, limit: '1000' } };
}

/** Results in the order of the tasks. */
export function sideBySide<T>(tasks: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  return new PQueue({ concurrency: AT_A_TIME }).addAll(tasks);
}

/** A signed address says when it was signed. */
export const SIGNATURES = /X-Amz-(?:Date|Signature)=[^"&]*/g;

/** The answers of all operations that read, by operation and request. */
export async function readEverything(filled: FilledEnvironment): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  const read = async (operation: Operation, request: SampleRequest): Promise<void> => {
    const { status, text } = await send(filled, operation, request);
    expect([operation.id, status === 200 ? '' : text]).toEqual([operation.id, '']);
    const answer = text.replaceAll(SIGNATURES, '<signed>');
    answers.set(`${operation.id} ${JSON.stringify(request)}`, answer);
  };
  await sideBySide(
    reading.filter(isAlone).flatMap((operation) => {
      const sample = sampleOf(operation.id, filled);
      return [sample, widest(operation, sample)].map((request) => () => read(operation, request));
    }),
  );
  return answers;
}

/** An anchor of the heads as they stand, signed by nobody: it is there to be seen or not. */
async function storeAnchor(
  database: Database,
  { environmentId }: FilledEnvironment['environment'],
): Promise<void> {
  const owner = ownerOf(database);
  await owner.query(sql.type(z.unknown())`
    INSERT INTO ledger_anchored_heads (tenant_id, environment_id, customer_id, position, hash)
    SELECT tenant_id, environment_id, customer_id, last_position, last_hash FROM ledger_heads
    WHERE environment_id = ${environmentId}`);
  await owner.query(sql.type(z.unknown())`
    INSERT INTO ledger_anchors (tenant_id, environment_id, number, anchored_at, customer_count,
      movement_count, root, previous, public_key, signature)
    SELECT tenant_id, id, 1, ${FILLED_AT}::timestamptz, 0, 0, 'root', '', 'key', 'signature ' || id
    FROM environments WHERE id = ${environmentId}`);
}

/** Fills the environment that asks, reads all of it, and only then fills the foreign ones. */
async function makeWorld(
  api: BillingUnderTest,
  database: Database,
  clickhouse: ClickHouse,
): Promise<IsolationWorld> {
  const tools = { api, database, clickhouse };
  const { environment } = api;
  const own = await fillEnvironment(tools, { environment }, { suffix: '', partition: 0 });
  await storeAnchor(database, own.environment);
  const alone = await readEverything(own);
  const sibling = { tenantId: environment.tenantId, environmentId: createId('env') };
  const keys = [await makeKey(database, { environment: sibling }), await makeKey(database, {})];
  const foreign = await Promise.all(
    keys.map(async (key, index) => {
      // Once with the very keys of `own`, so that whatever goes by a name meets its double, and
      // once with others, for asking after what only the foreign environment has.
      await fillEnvironment(tools, key, { suffix: '', partition: 1 + 2 * index });
      return fillEnvironment(tools, key, { suffix: `-${index}`, partition: 2 + 2 * index });
    }),
  );
  for (const { environment: filled } of foreign) await storeAnchor(database, filled);
  // Last: the filters of their meters could not be changed afterwards.
  for (const { environment: filled } of [own, ...foreign]) {
    await storeExpiredMonth(database, filled);
    await storeExpiredEvents(clickhouse, filled);
  }
  return { database, clickhouse, own, foreign, alone };
}

const tableName = z.object({ name: z.string() });

/** Every table of PostgreSQL that row-level security is enabled on. */
function policedTables(database: Database): Promise<readonly string[]> {
  return ownerOf(database).anyFirst(sql.type(tableName)`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relrowsecurity`);
}

/** From now on every statement sees the rows of all environments, as for a superuser. */
async function switchRowSecurityOff(database: Database): Promise<void> {
  for (const table of await policedTables(database)) {
    await ownerOf(database).query(sql.type(z.unknown())`
      ALTER TABLE ${sql.identifier([table])} DISABLE ROW LEVEL SECURITY`);
  }
  expect(await policedTables(database)).toEqual([]);
}

/** A world of its own; row-level security is in force in it, or switched off. */
export async function withIsolationWorld(
  databases: ClickHouseDatabases,
  { hasRowSecurity }: { readonly hasRowSecurity: boolean },
  work: (world: IsolationWorld) => Promise<void>,
): Promise<void> {
  const clock = { now: () => Date.parse(FILLED_AT) };
  await withFreshDatabase(async ({ database }) => {
    if (!hasRowSecurity) await switchRowSecurityOff(database);
    await withFreshClickHouse(databases, ({ client }) =>
      withBillingApi({ database, clickhouse: client, clock }, async (api) => {
        await work(await makeWorld(api, database, client));
      }),
    );
  });
}
