import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import { withSession } from '../../sql/session.js';
import { test } from '../harness/fixtures.js';
import { ALL_PARTITIONS, ReceivingWorld, startWorld, WAIT } from './receiving-world.js';

describe('data_until', () => {
  test('follows what is counted while events flow, waits for what a stopped ingest holds, and not for ever for one that was killed', async ({
    database,
    clickhouse,
  }) => {
    const world = await ReceivingWorld.prepare({ database, clickhouse });
    try {
      const [ingest, billingApi] = await startWorld(world);
      const stopFirst = world.flow(ingest, ALL_PARTITIONS);
      for (let times = 0; times < 3; times += 1) await world.hasAll(billingApi);
      await stopFirst();

      // Another ingest has an event, and is stopped before the log has it.
      const other = await world.start('ingest');
      const [held, free] = [[0], [1, 2, 3]];
      const stop = await withSession(database.url, async (session) => {
        await session.query('BEGIN');
        await session.query('SELECT FROM event_log_partitions WHERE partition = 0 FOR UPDATE');
        const sending = world.send(other, world.idIn(held));
        await vi.waitFor(async () => {
          const waiting = `SELECT FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`;
          expect((await session.query(waiting)).rowCount).toBe(1);
        }, WAIT);
        const heldByMs = Date.now();
        other.child.kill('SIGSTOP');
        const stopFlow = world.flow(ingest, free);
        const { sent } = world;
        while (world.sent < sent + 100) {
          expect(await world.ask(billingApi)).toBeLessThanOrEqual(heldByMs);
        }
        await session.query('COMMIT');
        other.child.kill('SIGCONT');
        await sending;
        return stopFlow;
      });
      await world.hasAll(billingApi);

      // Killed, it is waited for as long as it might only be cut off.
      const killedByMs = Date.now();
      other.child.kill('SIGKILL');
      await delay(500);
      const { sent } = world;
      while (world.sent < sent + 50) {
        expect(await world.ask(billingApi)).toBeLessThanOrEqual(killedByMs + 500);
      }
      await withSession(database.url, (session) =>
        session.query(`UPDATE ingest_processes SET reported_at = reported_at - silent_max
          WHERE reported_at < clock_timestamp() - interval '0.4 s'`),
      );
      await world.hasAll(billingApi);
      await stop();
      await world.hasAll(billingApi);
      // One that ends in order is not waited for.
      await ingest.stop();
      const { rows } = await withSession(database.url, (session) =>
        session.query(
          `SELECT FROM ingest_processes WHERE reported_at > clock_timestamp() - silent_max`,
        ),
      );
      expect(rows).toEqual([]);
    } finally {
      await world.close();
    }
  });
});
