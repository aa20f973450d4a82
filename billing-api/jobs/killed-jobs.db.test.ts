import { createPostgresDataUntil } from '../usage/watermark/data-until.js';
import { createJobNeeds } from './job-needs.js';
import { sql } from 'slonik';
import { describe, expect } from 'vitest';
import { z } from 'zod';
import { HOUR_MS } from '../../contract/instant.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { createId } from '../../runtime/ids.js';
import { createLog } from '../../runtime/log.js';
import { integerColumn } from '../../sql/columns.js';
import type { Job } from '../../sql/jobs/job.js';
import { declareSchedules } from '../../sql/jobs/job-table.js';
import type { Database } from '../../sql/pool.js';
import { finishJob, killInJob } from '../../sql/testing/killed-job.js';
import type { BillingUnderTest } from '../testing/billing-harness.js';
import { test } from '../testing/billing-test.js';
import { finishPartition } from '../testing/finish-partition.js';
import { storeAccepted } from '../testing/log-rows.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { JobNeeds } from './job-needs.js';
import { RECONCILE_USAGE } from './reconcile-usage.js';
import { REMOVE_EXPIRED_KEYS } from './remove-expired-keys.js';
import { WATCH_METER_WAITS } from './watch-meter-waits.js';

type World = {
  readonly api: BillingUnderTest;
  readonly database: Database;
  readonly client: ClickHouse;
};

/** More expired answers than one batch removes, and two that have not expired. */
async function storeKeys({ api, database }: World): Promise<void> {
  const { tenantId, environmentId } = api.environment;
  await ownerOf(database).query(sql.type(z.unknown())`
    INSERT INTO idempotency_keys
      (tenant_id, environment_id, key, method, path, body_hash, state, claim_id, claimed_at, expires_at)
    SELECT ${tenantId}, ${environmentId}, 'k' || n, 'POST', '/', ''::bytea, 'running', n::text,
      '2026-01-01', CASE WHEN n <= 1025 THEN '2026-01-02' ELSE '2200-01-01' END::timestamptz
    FROM generate_series(1, 1027) n`);
}

/** Three events of the last closed hour that were accepted and are not stored. */
async function loseEvents({ api, database, client }: World): Promise<void> {
  await finishPartition(database, { logId: 'log', partition: 0, nextOffset: 20 });
  const hour = new Date((Math.floor(Date.now() / HOUR_MS) - 1) * HOUR_MS).toISOString();
  const batch = { source: 'log:0', start: 10, end: 20, hour, events: 3 };
  await storeAccepted(client, api.environment, batch);
}

/** A meter that has waited for an hour. */
async function letMeterWait({ api, database }: World): Promise<void> {
  await finishPartition(database, { logId: 'log', partition: 0, nextOffset: 5 });
  const meter = { name: 'Calls', event_name: 'call', aggregation: { type: 'COUNT' } };
  await api.make('/v1/meters', meter);
  await ownerOf(database).query(sql.type(z.unknown())`
    UPDATE meter_backfills SET started_at = now() - interval '1 hour'`);
}

async function keysLeft({ database }: World): Promise<unknown> {
  return ownerOf(database).one(sql.type(z.object({ keys: integerColumn }))`
    SELECT count(*) AS keys FROM idempotency_keys`);
}

/** What the job keeps for its next run; null while none has ended. */
async function stateKept({ database }: World): Promise<unknown> {
  const row = await ownerOf(database).one(sql.type(z.object({ state: z.unknown() }))`
    SELECT state FROM jobs`);
  return row.state;
}

type Case = {
  readonly job: Job<JobNeeds>;
  /** After which statement it is killed, or at its end, which is not stored. */
  readonly at: string;
  readonly prepare: (world: World) => Promise<void>;
  readonly look: (world: World) => Promise<unknown>;
  /** What there is to see after the kill, and when another process has carried it out. */
  readonly killed: unknown;
  readonly done: unknown;
};

const reconcile = {
  job: RECONCILE_USAGE,
  prepare: loseEvents,
  look: stateKept,
  killed: null,
  done: expect.objectContaining({ difference: 3 }) as unknown,
};

/** Every job of billing-api. */
const CASES: readonly Case[] = [
  {
    job: REMOVE_EXPIRED_KEYS,
    at: 'end',
    prepare: storeKeys,
    look: keysLeft,
    killed: { keys: 1_027 },
    done: { keys: 2 },
  },
  { ...reconcile, at: '#accepted' },
  { ...reconcile, at: 'end' },
  {
    job: WATCH_METER_WAITS,
    at: 'end',
    prepare: letMeterWait,
    look: stateKept,
    killed: null,
    done: { waitSeconds: expect.closeTo(3_600, -2) as unknown },
  },
];

describe('a process that is killed in the middle of a job', () => {
  test.for(CASES.map((each) => [each.job.name, each.at, each] as const))(
    'leaves nothing undone and has nothing done twice: %s, at %s',
    async ([name, at, each], { api, database: { database, url }, clickhouse }) => {
      const { client } = clickhouse;
      const world = { api, database, client };
      await each.prepare(world);
      await declareSchedules(database.slonik, [each.job], { now: Date.now(), newId: createId });
      const urls = { databaseUrl: url, clickHouseUrl: clickhouse.url };
      await killInJob('billing-api/testing/hang-in-job', { job: name, at, ...urls });
      expect(await each.look(world)).toEqual(each.killed);
      const log = createLog('test', 'silent');
      const dataUntil = createPostgresDataUntil(database, 0);
      const needs = createJobNeeds({ database, clickHouse: client, log, dataUntil });
      await finishJob(database, each.job, needs);
      expect(await each.look(world)).toEqual(each.done);
    },
  );
});
