import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { test as base } from '../../load-tests/harness/fixtures.js';
import type { Database } from '../../sql/pool.js';
import { createBackfillJobs, type BackfillAttempt, type BackfillJobs } from './backfill-jobs.js';

const run = sql.type(z.unknown());
const RESULT = { eventsScanned: 30, eventsMatched: 12 };
const AGGREGATION = { type: 'SUM', field: 'bytes', multiplier: '0.50', expression: null };

type World = { readonly database: Database; readonly jobs: BackfillJobs };

/** A meter created after the events of two partitions, one of which is not finished so far. */
const test = base.extend<{ readonly world: World }>({
  world: async ({ database: { database } }, use) => {
    await ownerOf(database).query(run`
      INSERT INTO aggregator_checkpoints
        (log, partition, next_offset, intent_end, catalog_version, min_version)
      VALUES ('log', 0, 10, 15, 1, 1), ('log', 1, 20, NULL, 1, 1)`);
    await database.asEnvironment({ tenantId: 't', environmentId: 'e' }, (transaction) =>
      transaction.query(run`
        SELECT activate_meter_version('m1', 1, 't', 'e', 'call', '[]', ${JSON.stringify(AGGREGATION)}::jsonb)`),
    );
    await use({ database, jobs: createBackfillJobs(database) });
  },
});

/** Finishes the batch whose intent stood when the meter was created. */
async function finishBatch({ database }: World): Promise<void> {
  await ownerOf(database).query(run`
    UPDATE aggregator_checkpoints SET next_offset = 15, intent_end = NULL WHERE partition = 0`);
}

async function claimed(world: World): Promise<BackfillAttempt> {
  const attempt = await world.jobs.claim();
  if (attempt === null) throw new Error('nothing to claim');
  return attempt;
}

/** As if the process had sent no heartbeat for as long as its claim lasts. */
async function letClaimEnd({ database }: World): Promise<void> {
  await ownerOf(database).query(
    run`UPDATE meter_backfills SET claimed_until = now() - interval '1 ms'`,
  );
}

const stateRow = z.object({
  status: z.string(),
  attempts: z.number(),
  scanned: z.string(),
  matched: z.string(),
  error: z.string().nullable(),
  generations: z.array(z.string()),
});

async function stateOf({ database }: World): Promise<z.output<typeof stateRow>> {
  return ownerOf(database).one(sql.type(stateRow)`
    SELECT status, attempts, events_scanned AS scanned, events_matched AS matched, error,
      read_generations::text[] AS generations
    FROM meter_backfills JOIN meter_versions USING (meter_id, version)`);
}

describe('backfills in Postgres', () => {
  test('begin when their input no longer changes, with the definition and its start offsets', async ({
    world,
  }) => {
    expect(await world.jobs.claim()).toBeNull();
    await finishBatch(world);
    expect(await claimed(world)).toMatchObject({
      meterId: 'm1',
      version: 1,
      environment: { tenantId: 't', environmentId: 'e' },
      eventName: 'call',
      aggregation: { type: 'SUM', field: 'bytes', multiplier: '0.50', groupBy: null },
      attempts: 1,
      startOffsets: [
        { log: 'log', partition: 0, liveFrom: 15 },
        { log: 'log', partition: 1, liveFrom: 20 },
      ],
    });
  });

  test('of archived meters wait for those of published ones', async ({ world }) => {
    const { database } = world;
    const meter = (id: string, status: string) => run`
      INSERT INTO meters (id, tenant_id, environment_id, name, event_name, filters, aggregation_type,
        reset_usage, version, read_version, metadata, status, created_at, updated_at)
      VALUES (${id}, 't', 'e', ${id}, 'call', '[]', 'COUNT', 'BILLING_PERIOD', 1, 0, '{}', ${status},
        now(), now())`;
    await ownerOf(database).query(run`INSERT INTO tenants (id, name) VALUES ('t', 'T')`);
    await ownerOf(database).query(run`
      INSERT INTO environments (id, tenant_id, name, type) VALUES ('e', 't', 'E', 'production')`);
    await ownerOf(database).query(meter('m1', 'archived'));
    await ownerOf(database).query(meter('m2', 'published'));
    await database.asEnvironment({ tenantId: 't', environmentId: 'e' }, (transaction) =>
      transaction.query(run`
        SELECT activate_meter_version('m2', 1, 't', 'e', 'call', '[]', ${JSON.stringify(AGGREGATION)}::jsonb)`),
    );
    await finishBatch(world);
    expect((await claimed(world)).meterId).toBe('m2');
    expect((await claimed(world)).meterId).toBe('m1');
    expect(await world.jobs.claim()).toBeNull();
  });

  test('are claimed by one process at a time, and by another when its heartbeats stop', async ({
    world,
  }) => {
    await finishBatch(world);
    const first = await claimed(world);
    expect(await world.jobs.claim()).toBeNull();
    await letClaimEnd(world);
    const second = await claimed(world);
    expect(second.attempts).toBe(2);
    expect(second.generation).not.toBe(first.generation);
  });

  test('show their progress and are not taken from a process that sends heartbeats', async ({
    world,
  }) => {
    await finishBatch(world);
    const attempt = await claimed(world);
    await letClaimEnd(world);
    expect(await world.jobs.progress(attempt, RESULT)).toBe(true);
    expect(await world.jobs.claim()).toBeNull();
    expect(await stateOf(world)).toMatchObject({ status: 'running', scanned: '30', matched: '12' });
  });

  test('let an overtaken attempt write nothing more', async ({ world }) => {
    await finishBatch(world);
    const first = await claimed(world);
    await letClaimEnd(world);
    const second = await claimed(world);
    expect(await world.jobs.progress(first, RESULT)).toBe(false);
    expect(await world.jobs.complete(first, RESULT)).toBe(false);
    await world.jobs.postpone(first, { error: 'late', pauseSeconds: 60 });
    await world.jobs.release(first);
    expect(await stateOf(world)).toMatchObject({
      status: 'running',
      attempts: 2,
      scanned: '0',
      error: null,
      generations: [],
    });
    expect(await world.jobs.complete(second, RESULT)).toBe(true);
    const { generations, status } = await stateOf(world);
    expect([status, generations.length]).toEqual(['completed', 2]);
    expect(generations).toContain(String(second.generation));
    expect(await world.jobs.complete(second, RESULT)).toBe(false);
    expect(await world.jobs.claim()).toBeNull();
  });

  test('are shown as failed until the next attempt, which starts afresh', async ({ world }) => {
    await finishBatch(world);
    const first = await claimed(world);
    await world.jobs.progress(first, RESULT);
    await world.jobs.postpone(first, { error: 'ClickHouse is away', pauseSeconds: 60 });
    expect(await stateOf(world)).toMatchObject({ status: 'failed', error: 'ClickHouse is away' });
    expect(await world.jobs.claim()).toBeNull();
    await letClaimEnd(world);
    expect((await claimed(world)).attempts).toBe(2);
    expect(await stateOf(world)).toMatchObject({ status: 'running', scanned: '0' });
  });

  test('are released at once by a process that shuts down', async ({ world }) => {
    await finishBatch(world);
    await world.jobs.release(await claimed(world));
    expect((await claimed(world)).attempts).toBe(2);
  });
});
