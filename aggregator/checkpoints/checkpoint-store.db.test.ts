import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { test } from '../../load-tests/harness/fixtures.js';
import { assertPresent } from '../../runtime/failure.js';
import type { Database } from '../../sql/pool.js';
import type { Intent } from '../protocol/state.js';
import { createCheckpointStore, type CheckpointStore } from './checkpoint-store.js';

const first: Intent = { end: 3, catalogVersion: 1, foldVersion: 1, digest: 'of one release' };

const MEMBER = 'member';
const own = sql.type(z.unknown())`UPDATE aggregator_checkpoints SET owner = ${MEMBER}`;
const activateMeter = sql.type(z.unknown())`
  SELECT activate_meter_version('m1', 1, 'tenant_1', 'env_1', 'request', '[]'::jsonb)`;

/** The store of a log with one partition, owned by the member, and the epoch of its take. */
async function takenStore(
  database: Database,
): Promise<{ readonly store: CheckpointStore; readonly epoch: number }> {
  const store = createCheckpointStore(database, { log: 'log', memberId: MEMBER });
  await store.ensure([0]);
  await ownerOf(database).query(own);
  const row = assertPresent(await store.take(0, 0), 'the row of the owner');
  return { store, epoch: row.epoch };
}

describe('a finished batch', () => {
  test.for([{ appendedAtMs: 1_767_225_599_999 }, { appendedAtMs: null }])(
    'is remembered with the time of its append, $appendedAtMs',
    async ({ appendedAtMs }, { database: { database } }) => {
      const { store, epoch } = await takenStore(database);
      const at = { partition: 0, epoch, start: 0 };
      await store.intend([{ ...at, intent: first, isReplacement: false }]);
      await store.finish([{ ...at, end: 3, rows: 2, appendedAtMs }]);
      const lastBatch = { start: 0, rows: 2, erased: 0, appendedAtMs };
      expect((await store.read(0)).lastBatch).toEqual(lastBatch);
      expect((await store.take(0, 0))?.lastBatch).toEqual(lastBatch);
    },
  );
});

describe('an intent of a partition', () => {
  test('may be replaced by one of its own range and catalog, also after a meter was activated', async ({
    database: { database },
  }) => {
    const { store, epoch } = await takenStore(database);
    const intend = async (intent: Intent, isReplacement: boolean): Promise<boolean> =>
      (await store.intend([{ partition: 0, epoch, start: 0, intent, isReplacement }])).has(0);
    expect(await intend(first, false)).toBe(true);
    await database.asEnvironment({ tenantId: 'tenant_1', environmentId: 'env_1' }, (connection) =>
      connection.query(activateMeter),
    );
    const { minVersion } = await store.read(0);
    expect(minVersion).toBe(2);
    const other = { ...first, digest: 'of another release' };
    expect(await intend({ ...other, end: 2 }, true)).toBe(false);
    expect(await intend({ ...other, catalogVersion: minVersion }, true)).toBe(false);
    expect(await intend(other, false)).toBe(false);
    expect(await intend(other, true)).toBe(true);
    expect(assertPresent((await store.read(0)).intent, 'the intent')).toEqual(other);
  });

  test('is refused with a catalog older than an activated meter', async ({
    database: { database },
  }) => {
    const { store, epoch } = await takenStore(database);
    await database.asEnvironment({ tenantId: 'tenant_1', environmentId: 'env_1' }, (connection) =>
      connection.query(activateMeter),
    );
    const intend = async (intent: Intent, isReplacement: boolean): Promise<boolean> =>
      (await store.intend([{ partition: 0, epoch, start: 0, intent, isReplacement }])).has(0);
    expect(await intend(first, false)).toBe(false);
    expect(await intend({ ...first, catalogVersion: 2 }, true)).toBe(false);
    expect(await intend({ ...first, catalogVersion: 2 }, false)).toBe(true);
  });
});
