import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql, type DatabasePool } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { integerColumn } from '../../sql/columns.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { Database } from '../../sql/pool.js';
import { meterKey } from '../fold/meter-index.js';
import type { Catalog } from '../protocol/state.js';
import { createCatalogReader } from './catalog.js';

const ENVIRONMENT = { tenantId: 'tenant_1', environmentId: 'env_1' };

async function createMeter(database: Database, meterId = 'm1', version = 1): Promise<void> {
  await database.asEnvironment(ENVIRONMENT, (connection) =>
    connection.query(sql.type(z.unknown())`
      SELECT activate_meter_version(${meterId}, ${version}, ${ENVIRONMENT.tenantId},
                                    ${ENVIRONMENT.environmentId}, 'request', '[]'::jsonb)`),
  );
}

function generationsIn({ meters }: Catalog, eventName = 'request'): readonly number[] {
  const group = meters.get(meterKey(ENVIRONMENT, eventName)) ?? [];
  return group.map(({ definition }) => definition.generation);
}

/** Rows in force in a version, in the order of the fold. */
async function generationsOf(database: Database, version: number): Promise<readonly number[]> {
  return ownerOf(database).anyFirst(sql.type(z.object({ generation: integerColumn }))`
    SELECT generation FROM meters_of_catalog(${version})`);
}

type Answer = (...parameters: readonly unknown[]) => unknown;

/** The database, and what was asked of it: the names of the functions in its statements. */
function watched(database: Database) {
  const asked: string[] = [];
  const slonik = new Proxy(database.slonik, {
    get: (target, key): unknown => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      const answer: Answer = (...parameters) => {
        const text = JSON.stringify(parameters);
        asked.push(/FROM (\w+)/.exec(text)?.[1] ?? text);
        return Reflect.apply(member, target, parameters);
      };
      return answer;
    },
  });
  const named: { readonly slonik: DatabasePool } = { slonik };
  return { asked, database: named };
}

/** The database, but its first answer of one row is held back until `deliver` is called. */
function withAnswerUnderWay(database: Database) {
  let deliver = (): void => undefined;
  let delivered: Promise<void> | null = new Promise((resolve) => {
    deliver = resolve;
  });
  const one: DatabasePool['one'] = async (...parameters) => {
    const waits = delivered;
    delivered = null;
    const row = await database.slonik.one(...parameters);
    await waits;
    return row;
  };
  const slonik = new Proxy(database.slonik, {
    get: (target, key): unknown => (key === 'one' ? one : Reflect.get(target, key)),
  });
  const slow: { readonly slonik: DatabasePool } = { slonik };
  return { database: slow, deliver };
}

/** Meters of one environment, each with an event name of its own, in one catalog version. */
async function insertMeters(database: Database, count: number): Promise<void> {
  await ownerOf(database).query(sql.type(z.unknown())`
    WITH made AS (UPDATE catalog_counter SET version = version + 1 RETURNING version),
      numbered AS (INSERT INTO catalog_versions (version) SELECT version FROM made RETURNING version)
    INSERT INTO meter_versions (meter_id, version, tenant_id, environment_id, event_name, filters, activated_in)
    SELECT 'many-' || number, 1, ${ENVIRONMENT.tenantId}, ${ENVIRONMENT.environmentId},
      'event-' || number, '[{"key": "plan", "values": ["pro", "free"]}]'::jsonb, version
    FROM numbered, generate_series(1, ${count}) AS number`);
}

/** What this computes while it runs: in all, and at most between two turns of the event loop. */
async function computingOf(work: Promise<unknown>): Promise<{ total: number; longest: number }> {
  let isOver = false;
  let longest = 0;
  let total = 0;
  void work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const before = process.cpuUsage();
    await nextTurn();
    const { user, system } = process.cpuUsage(before);
    longest = Math.max(longest, user + system);
    total += user + system;
  }
  await work;
  return { total, longest };
}

describe('the newest catalog', () => {
  test('has a new meter two seconds after its creation', async ({ database: { database } }) => {
    let nowMs = 0;
    const catalogs = createCatalogReader(database, () => nowMs);
    const before = await catalogs.latest(0);
    await createMeter(database);
    // For a moment it may still be the catalog that was read before: not every batch reads it.
    expect((await catalogs.latest(0)).version).toBe(before.version);
    nowMs = 2_000;
    expect((await catalogs.latest(0)).version).toBe(before.version + 1);
  });

  test('has a new meter at once when a refused intent says that there is one', async ({
    database: { database },
  }) => {
    const catalogs = createCatalogReader(database, () => 0);
    const { version } = await catalogs.latest(0);
    await createMeter(database);
    expect((await catalogs.latest(version + 1)).version).toBe(version + 1);
  });
});

describe('what the partitions of a process ask together', () => {
  test('is the newest version once, and its changes once, after all of them were refused', async ({
    database: { database },
  }) => {
    const { asked, database: spied } = watched(database);
    const catalogs = createCatalogReader(spied, () => 0);
    const { version } = await catalogs.latest(0);
    await createMeter(database);
    asked.length = 0;
    const loaded = await Promise.all(Array.from({ length: 8 }, () => catalogs.latest(version + 1)));
    expect(asked).toEqual(['catalog_counter', 'changes_of_catalog']);
    expect(new Set(loaded).size).toBe(1);
  });

  test('is asked again when the answer under way is older than what refused one of them', async ({
    database: { database },
  }) => {
    const { database: slow, deliver } = withAnswerUnderWay(database);
    const catalogs = createCatalogReader(slow, () => 0);
    const early = catalogs.latest(0);
    await createMeter(database);
    const { version } = await createCatalogReader(database, () => 0).latest(0);
    const late = catalogs.latest(version);
    deliver();
    expect((await late).version).toBe(version);
    await early;
  });
});

describe('the catalog of a version', () => {
  test('is the same, read as a whole or from the changes since or before another', async ({
    database: { database },
  }) => {
    for (const meter of ['m2', 'm1', 'm3']) await createMeter(database, meter);
    await createMeter(database, 'm1', 2);
    await database.asEnvironment(ENVIRONMENT, (connection) =>
      connection.query(sql.type(z.unknown())`SELECT end_meter('m3')`),
    );
    await createMeter(database, 'm1', 3);
    const versions = [7, 1, 4, 2, 6, 3, 5];
    const inSteps = createCatalogReader(database, () => 0);
    for (const version of versions) {
      const expected = await generationsOf(database, version);
      const whole = await createCatalogReader(database, () => 0).load(version);
      expect({ version, meters: generationsIn(whole) }).toEqual({ version, meters: expected });
      const stepped = await inSteps.load(version);
      expect({ version, meters: generationsIn(stepped) }).toEqual({ version, meters: expected });
    }
  });

  test('is read once for all partitions, and the next one by its changes alone', async ({
    database: { database },
  }) => {
    await insertMeters(database, 10);
    const { asked, database: spied } = watched(database);
    const catalogs = createCatalogReader(spied, () => 0);
    const [first] = await Promise.all(Array.from({ length: 8 }, () => catalogs.load(2)));
    expect(asked).toEqual(['page_meters_of_catalog']);
    await createMeter(database);
    const loaded = await Promise.all(Array.from({ length: 8 }, () => catalogs.load(3)));
    expect(asked.slice(1)).toEqual(['changes_of_catalog']);
    expect(new Set(loaded).size).toBe(1);
    expect(loaded.map((catalog) => generationsIn(catalog).length)).toEqual(Array(8).fill(1));
    expect(generationsIn(loaded[0] ?? { version: 0, meters: new Map() }, 'event-7')).toEqual(
      generationsIn(first ?? { version: 0, meters: new Map() }, 'event-7'),
    );
  });

  test('is read beside the loop: no turn computes for long, however many meters there are', async ({
    database: { database },
  }) => {
    await insertMeters(database, 20_000);
    const catalogs = createCatalogReader(database, () => 0);
    const whole = await computingOf(catalogs.load(2));
    await createMeter(database);
    const next = await computingOf(catalogs.load(3));
    // Parts of one measurement, so that a busy or slow machine changes nothing.
    expect(whole.longest / whole.total).toBeLessThan(0.2);
    expect(next.total / whole.total).toBeLessThan(0.1);
  });
});
