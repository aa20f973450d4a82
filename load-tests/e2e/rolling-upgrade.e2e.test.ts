import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { createClickHouse } from '../../clickhouse/client.js';
import { migrateClickHouse } from '../../clickhouse/migrate.js';
import { migrationsFolder } from '../../runtime/migrations.js';
import { projectRoot } from '../../runtime/project.js';
import { integerColumn } from '../../sql/columns.js';
import { createApiKey } from '../../sql/api-key.js';
import { migrateDatabase } from '../../sql/migrate.js';
import { test } from '../harness/fixtures.js';
import { runVerb, runVerbOf } from '../harness/run-verb.js';
import { unpackRelease } from '../releases/kept-release.js';
import { CustomersOfUpgrade } from './upgrade/customers-of-upgrade.js';
import { ReleasePrograms } from './upgrade/release-programs.js';

/** The release before this one. */
const BEFORE = '0.1.0';

const EVENTS_EACH_PHASE = 300;

/** What the next release might add: columns of tables that the programs use all the time. */
const MADE_UP = {
  sql: `ALTER TABLE customers ADD COLUMN made_up text;
    ALTER TABLE aggregator_checkpoints ADD COLUMN made_up integer NOT NULL DEFAULT 7;
    ALTER TABLE event_log_batches ADD COLUMN made_up text;`,
  clickhouse: `ALTER TABLE events_v1 ADD COLUMN IF NOT EXISTS made_up UInt64;
    ALTER TABLE usage_minute_v1 ADD COLUMN IF NOT EXISTS made_up SimpleAggregateFunction(sum, UInt64);
    ALTER TABLE event_ids_v1 ADD COLUMN IF NOT EXISTS made_up UInt8;`,
} as const;

async function withMadeUp(engine: 'sql' | 'clickhouse', directory: string): Promise<string> {
  const folder = join(directory, engine);
  await cp(migrationsFolder(engine), folder, { recursive: true });
  await writeFile(join(folder, '9999_made_up.sql'), MADE_UP[engine]);
  return folder;
}

const storedRow = z.object({ events: integerColumn, duplicates: integerColumn });

describe(`release ${BEFORE} and this one on one set of stores`, () => {
  test('run side by side while events flow and the stores are migrated: every event counts once, no request is refused, nothing halts, and the release before can come back', async ({
    emptyDatabaseUrl,
    emptyClickHouseUrl,
    directory,
  }) => {
    const servers = { DATABASE_URL: emptyDatabaseUrl, CLICKHOUSE_URL: emptyClickHouseUrl };
    const [before, made] = [join(directory, 'before'), join(directory, 'made-up')];
    await unpackRelease(BEFORE, before);
    const apiKey = createApiKey('private_key');
    const prepared = { ...servers, MINUTEBOOK_BOOTSTRAP_API_KEY: apiKey };
    expect(await runVerbOf(before, prepared, 'migrate')).toMatchObject({ status: 0 });

    const programs = new ReleasePrograms(servers, before, projectRoot);
    const customers = new CustomersOfUpgrade(programs, apiKey);
    try {
      const old = await programs.startAll('before');
      await customers.prepare();
      customers.begin();
      await customers.sentMore(EVENTS_EACH_PHASE);

      // 1. The stores, by the verb of the new release. One of its files copies rows, so that the
      // aggregators are stopped first; events go on being accepted.
      const early = await runVerb(servers, 'migrate');
      expect([early.status, early.said]).toEqual([
        1,
        expect.stringContaining('0006_usage_by_meter.sql copies rows, and 1 of the aggregators'),
      ]);
      await programs.stop(old.aggregator);
      const migrated = await runVerb(servers, 'migrate');
      expect([migrated.status, migrated.said]).toEqual([
        0,
        expect.stringContaining('ClickHouse now has'),
      ]);
      await migrateDatabase(emptyDatabaseUrl, await withMadeUp('sql', made));
      const folder = await withMadeUp('clickhouse', made);
      await migrateClickHouse(emptyClickHouseUrl, emptyDatabaseUrl, folder);
      await customers.sentMore(EVENTS_EACH_PHASE);
      await expect
        .poll(() => programs.readiness(), { timeout: 30_000, interval: 500 })
        .toEqual(['before ingest: 200', 'before billing-api: 200']);

      // 2. The aggregator of the new release beside one of the release before, as when no file
      // copies rows; then alone; then billing-api, and ingest last.
      const second = await programs.start('before', 'aggregator');
      await programs.waitUntilOwning(second);
      const aggregator = await programs.start('this', 'aggregator');
      await programs.waitUntilOwning(aggregator);
      await customers.sentMore(EVENTS_EACH_PHASE);
      await programs.stop(second);
      await programs.start('this', 'billing-api');
      await customers.sentMore(EVENTS_EACH_PHASE);
      await programs.start('this', 'ingest');
      await customers.sentMore(EVENTS_EACH_PHASE);
      await programs.stop(old['billing-api']);
      await programs.stop(old.ingest);
      await customers.sentMore(EVENTS_EACH_PHASE);

      // 3. Back to the release before, which finds stores that are newer than itself.
      const again = await programs.startAll('before');
      await programs.waitUntilOwning(again.aggregator);
      await customers.sentMore(EVENTS_EACH_PHASE);
      await customers.end();

      const { accepted, distinct, refused, wrong } = customers;
      expect({ refused, wrong, halted: programs.halted }).toEqual({
        refused: [],
        wrong: [],
        halted: [],
      });
      await expect
        .poll(() => customers.usage(), { timeout: 60_000, interval: 200 })
        .toEqual(programs.running('billing-api').map(() => distinct));
      const clickhouse = createClickHouse(emptyClickHouseUrl);
      const [stored] = await clickhouse.query(
        `SELECT (SELECT count() FROM events_v1) AS events,
           (SELECT count() FROM event_duplicates_v1 FINAL) AS duplicates`,
        {},
        storedRow,
      );
      await clickhouse.close();
      expect(stored).toEqual({ events: distinct, duplicates: accepted - distinct });
      await expect
        .poll(() => customers.totals(), { timeout: 30_000, interval: 200 })
        .toMatchObject({
          accepted,
          counted: distinct,
          duplicate: accepted - distinct,
          difference: 0,
        });
      // A probe of the test itself: copies were sent.
      expect(accepted).toBeGreaterThan(distinct);
      expect(programs.halted).toEqual([]);
    } finally {
      await customers.end();
      await programs.stopAll();
    }
  });
});
