import { Client } from 'pg';
import { describe, expect, vi } from 'vitest';
import type { InjectFailure } from './ownership/run-partition.js';
import { environment, eventOf, send, test, totals } from './testing/aggregator-world.js';

/** More than are made while the test runs. */
const METERS = 1_000_000;

/** Makes one meter after the other, without a pause, until the session ends. */
async function makeMeters(url: string): Promise<{ end: () => Promise<void> }> {
  const session = new Client({ connectionString: url });
  await session.connect();
  const { tenantId, environmentId } = environment;
  await session.query(
    `SELECT set_config('minutebook.tenant_id', $1, false),
            set_config('minutebook.environment_id', $2, false)`,
    [tenantId, environmentId],
  );
  const identity = await session.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const pid = identity.rows[0]?.pid;
  const ended = session
    .query(
      `DO $$ BEGIN FOR made IN 1..${METERS} LOOP
         PERFORM activate_meter_version('made-' || made, 1, '${tenantId}', '${environmentId}',
           'event-' || made, '[]');
         COMMIT;
       END LOOP; END $$`,
    )
    .catch((error: unknown) => error);
  session.on('error', () => undefined);
  return {
    end: async () => {
      const other = new Client({ connectionString: url });
      await other.connect();
      await other.query('SELECT pg_terminate_backend($1)', [pid]);
      await other.end();
      await ended;
    },
  };
}

/** Counts, for each batch, how often its intent was refused. */
function watchRefusals() {
  const refusals = new Map<number, number>();
  let most = 0;
  const watch: InjectFailure = ({ kind }, partition) => {
    if (kind === 'load_catalog') refusals.set(partition, (refusals.get(partition) ?? 0) + 1);
    if (kind === 'remember') refusals.delete(partition);
    most = Math.max(most, refusals.get(partition) ?? 0);
    return null;
  };
  return { watch, most: () => most };
}

describe('meters that are made without a pause', () => {
  test('refuse an intent a few times only, since then they wait until the batch is intended', async ({
    world,
    database: { url },
  }) => {
    const refusals = watchRefusals();
    await world.startAggregator(refusals.watch);
    await send(world.writer, [eventOf('before')]);
    await vi.waitFor(async () => expect((await totals(world.clickhouse)).events).toBe(1), 20_000);
    const making = await makeMeters(url);
    try {
      for (const batch of Array(10).keys()) {
        await send(world.writer, [eventOf(`meanwhile-${batch}`)]);
        const wait = { timeout: 15_000, interval: 50 };
        const stored = async () => expect((await totals(world.clickhouse)).events).toBe(2 + batch);
        await vi.waitFor(stored, wait);
      }
    } finally {
      await making.end();
    }
    // One that was under way when the catalog was held may still come; a batch waits for no more.
    expect(refusals.most()).toBeGreaterThan(1);
    expect(refusals.most()).toBeLessThanOrEqual(4);
  });
});
