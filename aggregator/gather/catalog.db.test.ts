import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { test } from '../../load-tests/harness/fixtures.js';
import type { Database } from '../../sql/pool.js';
import { createCatalogReader } from './catalog.js';

async function createMeter(database: Database): Promise<void> {
  const environment = { tenantId: 'tenant_1', environmentId: 'env_1' };
  await database.asEnvironment(environment, (connection) =>
    connection.query(sql.type(z.unknown())`
      SELECT activate_meter_version('m1', 1, ${environment.tenantId}, ${environment.environmentId},
                                    'request', '[]'::jsonb)`),
  );
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
