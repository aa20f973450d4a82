import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import type { Database } from '../../sql/pool.js';
import { test as base } from '../../load-tests/harness/fixtures.js';
import type { FilledEnvironment } from '../testing/filled-environment.js';
import { idProbesOf, type IdProbe } from '../testing/id-probes.js';
import {
  foreignTo,
  KEYED_OPERATIONS,
  readEverything,
  SIGNATURES,
  send,
  sideBySide,
  withIsolationWorld,
  type IsolationWorld,
} from '../testing/isolation-world.js';
import { sampleOf } from '../testing/sample-requests.js';
import type { Operation } from './operation-table.js';

const ULID = /\b[a-z]+(_[a-z]+)?_[0-9A-HJKMNP-TV-Z]{26}\b/g;

// One world for several tests, since it is what takes the time.
const test = base.extend<{ world: IsolationWorld; worldWithoutPolicies: IsolationWorld }>({
  world: [
    async ({ clickhouseDatabases }, use) =>
      withIsolationWorld(clickhouseDatabases, { hasRowSecurity: true }, use),
    { scope: 'file' },
  ],
  worldWithoutPolicies: [
    async ({ clickhouseDatabases }, use) =>
      withIsolationWorld(clickhouseDatabases, { hasRowSecurity: false }, use),
    { scope: 'file' },
  ],
});

const tableName = z.object({ name: z.string() });

/** Every table of PostgreSQL whose rows belong to an environment. */
function tablesOf(database: Database): Promise<readonly string[]> {
  return ownerOf(database).anyFirst(sql.type(tableName)`
    SELECT table_name AS name FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'environment_id' ORDER BY 1`);
}

const digestRow = z.object({ rows: z.number(), digest: z.string().nullable() });

/** Number and digest of the rows of an environment, as the owner of the tables sees them. */
function digestOf(database: Database, table: string, { tenantId, environmentId }: Environment) {
  return ownerOf(database).one(sql.type(digestRow)`
    SELECT count(*)::integer AS rows, md5(string_agg(t::text, '|' ORDER BY t::text)) AS digest
    FROM ${sql.identifier([table])} t
    WHERE tenant_id = ${tenantId} AND environment_id = ${environmentId}`);
}

async function digests(database: Database, environments: readonly FilledEnvironment[]) {
  const found = new Map<string, z.output<typeof digestRow>>();
  for (const table of await tablesOf(database)) {
    for (const { environment } of environments) {
      const name = `${table} of ${environment.environmentId}`;
      found.set(name, await digestOf(database, table, environment));
    }
  }
  return found;
}

/** Every subscription that is made redeems its coupon once more. */
/** Each invoice takes the next one. */
const NUMBERS = /"invoice_number":"[^"]*"/g;
const REDEMPTIONS = /"total_redemptions":\d+/g;

/** An answer without what may differ: the value that was asked for, new ids, numbers. */
function comparable(text: string, value: string): string {
  const encoded = encodeURIComponent(value);
  const anonymous = text.replaceAll(value, '<id>').replaceAll(encoded, '<id>');
  return anonymous
    .replaceAll(ULID, '<id>')
    .replaceAll(SIGNATURES, '<signed>')
    .replaceAll(REDEMPTIONS, '<redemptions>')
    .replaceAll(NUMBERS, '<number>');
}

/** A value of the same form that nothing has, nor was asked for before. */
function unknownOf(value: string): string {
  return value.replace(/.{4}$/, String(nextAttempt()));
}

/** Foreign ids and environments that an answer contains without having been told them. */
function leaksIn(
  { text, told }: { readonly text: string; readonly told: readonly string[] },
  foreign: readonly FilledEnvironment[],
): readonly string[] {
  const secrets = foreign.flatMap(({ environment, ids }) => [
    environment.environmentId,
    ...Object.values(ids),
  ]);
  const known = told.flatMap((each) => [each, encodeURIComponent(each)]);
  const rest = known.reduce((left, each) => left.replaceAll(each, ''), text);
  return secrets.filter((secret) => rest.includes(secret));
}

let attempts = 5_000;

function nextAttempt(): number {
  attempts += 1;
  return attempts;
}

/** What a probe answers differently for foreign ids than for an unknown one. */
async function differencesAt(
  operation: Operation,
  world: IsolationWorld,
  at: number,
): Promise<unknown[]> {
  const foreign = foreignTo(operation, world);
  const answerTo = async (value: string) => {
    const suffix = `-try-${nextAttempt()}`;
    const sample = sampleOf(operation.id, world.own, suffix);
    const probe = idProbesOf(operation, sample, world.own.ids)[at] as IdProbe;
    const { text } = await send(world.own, operation, probe.with(value));
    const leaks = leaksIn({ text, told: [value, world.own.ids.tenant] }, foreign);
    return { probe, leaks, answer: comparable(text, value).replaceAll(suffix, '') };
  };
  const sample = sampleOf(operation.id, world.own);
  const { kind, place } = idProbesOf(operation, sample, world.own.ids)[at] as IdProbe;
  const foreignIds = foreign.map(({ ids }) => ids[kind]);
  const unknown = await answerTo(unknownOf(foreignIds[0] ?? ''));
  const differences: unknown[] = [];
  for (const foreignId of foreignIds) {
    const known = await answerTo(foreignId);
    if (known.answer === unknown.answer && known.leaks.length === 0) continue;
    differences.push({ operation: operation.id, place, known, unknown: unknown.answer });
  }
  return differences;
}

/** Entities whose path holds a name that everybody knows. */
const NAMED_BY_US = new Set(['setting', 'role']);

/** Asks every operation for foreign records, wherever its request can name one. */
async function probeEverything(
  world: IsolationWorld,
): Promise<{ readonly probes: number; readonly differences: readonly unknown[] }> {
  const probes = KEYED_OPERATIONS.flatMap((operation) => {
    const places = idProbesOf(operation, sampleOf(operation.id, world.own), world.own.ids);
    if (operation.path.includes('{') && !NAMED_BY_US.has(operation.entity ?? '')) {
      expect([operation.id, places.length > 0]).toEqual([operation.id, true]);
    }
    return places.map((_, at) => ({ operation, at }));
  });
  const isRead = ({ operation }: (typeof probes)[number]): boolean => operation.access === 'read';
  const ask = ({ operation, at }: (typeof probes)[number]) => differencesAt(operation, world, at);
  const found = [...(await sideBySide(probes.filter(isRead).map((probe) => () => ask(probe))))];
  // One after the other: two writes of one record would meet each other.
  for (const probe of probes) if (!isRead(probe)) found.push(await ask(probe));
  return { probes: probes.length, differences: found.flat() };
}

/** Rows of a table of ClickHouse by environment. */
async function environmentsIn(client: ClickHouse, table: string): Promise<readonly string[]> {
  const rows = await client.query(
    `SELECT DISTINCT environment_id AS name FROM ${table}`,
    {},
    tableName,
  );
  return rows.map(({ name }) => name);
}

const GENEROUS_MS = 300_000;

/** Nobody sees a record of another environment in any answer, nor changes one. */
async function expectIsolation(world: IsolationWorld): Promise<void> {
  const { database, clickhouse } = world;
  const everywhere = [world.own, ...world.foreign];
  const before = await digests(database, everywhere);
  // A test over an empty table proves nothing: a new table needs something in fillEnvironment.
  for (const [table, { rows }] of before) expect([table, rows > 0]).toEqual([table, true]);
  const tables = await clickhouse.query(
    `SELECT found AS name FROM (
      SELECT DISTINCT table AS found FROM system.columns
      WHERE database = currentDatabase() AND name = 'environment_id')`,
    {},
    tableName,
  );
  expect(tables.length).toBeGreaterThan(0);
  for (const { name } of tables) {
    const ids = everywhere.map(({ environment }) => environment.environmentId);
    const found = await environmentsIn(clickhouse, name);
    expect([name, found]).toEqual([name, expect.arrayContaining(ids)]);
  }

  const together = await readEverything(world.own);
  for (const [request, answer] of together) {
    expect([request, answer]).toEqual([request, world.alone.get(request)]);
  }

  const { probes, differences } = await probeEverything(world);
  expect(differences).toEqual([]);
  expect(probes).toBeGreaterThan(KEYED_OPERATIONS.length);

  // The key of a foreign environment is no key of this one.
  const headers = { 'idempotency-key': 'subscribe-0' };
  const options = { body: { name: 'Pro' }, headers };
  const created = await world.own.call('POST', '/v1/plans', options);
  expect([created.status, created.headers.get('idempotency-replayed')]).toEqual([201, null]);

  const after = await digests(database, world.foreign);
  for (const [table, digest] of after) {
    expect([table, digest]).toEqual([table, before.get(table)]);
  }
}

describe('an environment', () => {
  test(
    'is not seen from another environment of its tenant, nor from another tenant',
    { timeout: GENEROUS_MS },
    async ({ world }) => expectIsolation(world),
  );

  test(
    'is not seen from others by the filters of the statements alone, without row-level security',
    { timeout: GENEROUS_MS },
    async ({ worldWithoutPolicies }) => expectIsolation(worldWithoutPolicies),
  );

  test(
    'is closed by the database itself, whatever a statement asks for',
    { timeout: GENEROUS_MS },
    async ({ world }) => {
      const { database } = world;
      const { environment } = world.own;
      const tables = await tablesOf(database);
      for (const table of tables) {
        const name = sql.identifier([table]);
        const seen = await database.asEnvironment(environment, (connection) =>
          connection.anyFirst(sql.type(tableName)`
          SELECT DISTINCT environment_id AS name FROM ${name}`),
        );
        expect([table, seen]).toEqual([table, [environment.environmentId]]);
      }
      const [other] = world.foreign;
      const intrusion = database.asEnvironment(environment, (connection) =>
        connection.query(sql.type(z.unknown())`
        INSERT INTO plans (id, tenant_id, environment_id, name, metadata, status, created_at,
          updated_at)
        VALUES ('plan_y', ${other?.environment.tenantId ?? ''},
          ${other?.environment.environmentId ?? ''}, 'x', '{}', 'published', now(), now())`),
      );
      await expect(intrusion).rejects.toThrow('row-level security');
    },
  );
});
