import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { withoutOwners } from '../../clickhouse/guard-copies.js';
import { test as base } from '../../load-tests/harness/fixtures.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { MigrationRefused } from '../../runtime/migrations.js';
import type { Database } from '../../sql/pool.js';
import { readUsage } from '../testing/aggregator-world.js';
import { createBackfillJobs, type BackfillAttempt, type BackfillJobs } from './backfill-jobs.js';
import { backfillMeter } from './backfill-meter.js';

const run = sql.type(z.unknown());
const EVENTS = 3;
const COPYING = `CREATE TABLE usage_copy AS usage_minute_v1;
  INSERT INTO usage_copy SELECT * FROM usage_minute_v1`;
const EXCHANGING = 'EXCHANGE TABLES usage_copy AND usage_minute_v1';

type World = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly jobs: BackfillJobs;
  readonly session: Client;
};

/** A COUNT meter that is to be applied to three stored events; no aggregator runs. */
const test = base.extend<{ readonly world: World }>({
  world: async ({ database: { database, url }, clickhouse: { client } }, use) => {
    await client.command(
      `INSERT INTO events_v1 (tenant_id, environment_id, event_name, customer_key, timestamp,
         event_id, properties, received_at, log_id, log_partition, log_offset, appended_at)
       SELECT 't', 'e', 'call', 'e:acme', fromUnixTimestamp64Milli(60000, 'UTC'),
         toString(number), map(), fromUnixTimestamp64Milli(1, 'UTC'), 'log', 0, number,
         fromUnixTimestamp64Milli(9, 'UTC')
       FROM numbers(${EVENTS})`,
    );
    await ownerOf(database).query(run`
      INSERT INTO aggregator_checkpoints (log, partition, next_offset, catalog_version, min_version)
      VALUES ('log', 0, ${EVENTS}, 1, 1)`);
    await database.asEnvironment({ tenantId: 't', environmentId: 'e' }, (transaction) =>
      transaction.query(run`
        SELECT activate_meter_version('m1', 1, 't', 'e', 'call', '[]', '{"type": "COUNT"}'::jsonb)`),
    );
    const session = new Client({ connectionString: url });
    await session.connect();
    await use({ database, clickhouse: client, jobs: createBackfillJobs(database), session });
    await session.end();
  },
});

async function claimed({ jobs }: World): Promise<BackfillAttempt> {
  const attempt = await jobs.claim();
  if (attempt === null) throw new Error('nothing to claim');
  return attempt;
}

/** Applies the meter, and makes it visible if the attempt still may; true when it could. */
async function carryOut({ clickhouse, jobs }: World, attempt: BackfillAttempt): Promise<boolean> {
  const signal = new AbortController().signal;
  const result = await backfillMeter(clickhouse, attempt, { progress: () => undefined, signal });
  return jobs.complete(attempt, result);
}

/** Puts a copy in the place of the minutes; `meanwhile` runs when the rows have been copied. */
function copyMinutes(world: World, meanwhile: () => Promise<void>): Promise<void> {
  const { session, clickhouse } = world;
  return withoutOwners({ session, clickhouse }, 'this copy', async () => {
    for (const statement of COPYING.split(';')) await clickhouse.command(statement);
    await meanwhile();
    await clickhouse.command(EXCHANGING);
  });
}

describe('the backfill of a process that was paused while rows were copied', () => {
  test('never shows what it wrote into the table that is gone', async ({ world }) => {
    const paused = await claimed(world);
    const completions: Promise<boolean>[] = [];
    await copyMinutes(world, async () => {
      completions.push(carryOut(world, paused));
      await delay(1_000);
    });
    expect(await Promise.all(completions)).toEqual([false]);
    expect(await carryOut(world, await claimed(world))).toBe(true);
    expect(await readUsage(world)).toBe(EVENTS);
  });

  test('does not begin before the copy is in its place', async ({ world }) => {
    const claims: Promise<BackfillAttempt>[] = [];
    await copyMinutes(world, async () => {
      const claim = claimed(world);
      claims.push(claim);
      expect(await Promise.race([claim, delay(1_000, 'waits')])).toBe('waits');
    });
    const [attempt] = await Promise.all(claims);
    if (attempt === undefined) throw new Error('no claim was made');
    expect(await carryOut(world, attempt)).toBe(true);
    expect(await readUsage(world)).toBe(EVENTS);
  });

  test('makes the copy wait for another try when it began in between', async ({ world }) => {
    await claimed(world);
    const { session, clickhouse } = world;
    // What overtakes the attempts is undone at once, as if this one had begun just after it.
    await session.query(`CREATE FUNCTION begin_again() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN NEW.claimed_until := now() + interval '8 s'; RETURN NEW; END $$`);
    await session.query(`CREATE TRIGGER begin_again BEFORE UPDATE ON meter_backfills
      FOR EACH ROW EXECUTE FUNCTION begin_again()`);
    const copying = withoutOwners({ session, clickhouse }, 'this copy', () =>
      Promise.reject(new Error('it must not copy')),
    );
    const refused = await copying.catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(MigrationRefused);
    expect(String(refused)).toContain('began meanwhile');
  });
});
