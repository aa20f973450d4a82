import { sql } from 'slonik';
import { describe, expect, vi } from 'vitest';
import { z } from 'zod';
import { DAY_MS, formatInstant } from '../../contract/instant.js';
import { openPostgresReader } from '../../event-log/postgres/reader.js';
import { ownerOf } from '../../load-tests/harness/owner.js';
import { createId } from '../../runtime/ids.js';
import { createLog } from '../../runtime/log.js';
import { integerColumn } from '../../sql/columns.js';
import type { Job } from '../../sql/jobs/job.js';
import { declareSchedules } from '../../sql/jobs/job-table.js';
import { finishJob, killInJob } from '../../sql/testing/killed-job.js';
import {
  createMeter,
  environment,
  eventOf,
  readUsage,
  send,
  test,
  totals,
  WAIT,
  type World,
} from '../testing/aggregator-world.js';
import {
  EXPIRE_EVENTS,
  RETIRE_METER_VERSIONS,
  TRIM_EVENT_LOG,
  type JobNeeds,
} from './aggregator-jobs.js';

const EVENTS = 60;
const OLD = formatInstant(Date.now() - 150 * DAY_MS);
const run = sql.type(z.unknown());

/** Counted events of a month that has expired by now, each in a batch of the log of its own. */
async function countOldEvents(world: World): Promise<void> {
  await createMeter(world.database, '[]');
  for (let n = 0; n < EVENTS; n += 1) await send(world.writer, [eventOf(`old-${n}`)]);
  await ownerOf(world.database).query(run`
    UPDATE event_log_batches SET appended_at = ${OLD}::timestamptz`);
  const aggregator = await world.startAggregator();
  await vi.waitFor(async () => expect(await readUsage(world)).toBe(EVENTS), WAIT);
  await aggregator.close();
}

/** A second version of the meter is read, and the first one is still fed. */
async function changeMeter(world: World): Promise<void> {
  await countOldEvents(world);
  await world.database.asEnvironment(environment, (tx) =>
    tx.query(run`
      SELECT activate_meter_version('m1', 2, ${environment.tenantId},
        ${environment.environmentId}, 'request', '[{"key": "method", "values": ["GET"]}]')`),
  );
  const aggregator = await world.startAggregator();
  await vi.waitFor(async () => {
    const { done } = await ownerOf(world.database).one(sql.type(z.object({ done: integerColumn }))`
      SELECT count(*) AS done FROM meter_backfills WHERE version = 2 AND status = 'completed'`);
    expect(done).toBe(1);
  }, WAIT);
  await aggregator.close();
}

async function eventsLeft({ clickhouse }: World) {
  const [row] = await clickhouse.query(
    'SELECT sum(event_count) AS expired FROM expired_events_v1 FINAL',
    {},
    z.object({ expired: integerColumn }),
  );
  const { events, ids, usage } = await totals(clickhouse);
  return { events, ids, usage, expired: row?.expired };
}

async function versionsRetired({ database }: World): Promise<unknown> {
  return ownerOf(database).one(sql.type(z.object({ retired: integerColumn }))`
    SELECT count(*) AS retired FROM meter_versions WHERE retired_in IS NOT NULL`);
}

/** Records of each partition that the log still has, and how far it says that it begins. */
async function logLeft({ database }: World): Promise<unknown> {
  return ownerOf(database).any(sql.type(z.unknown())`
    SELECT partition, count(*)::integer AS batches,
      (min(end_offset) > start_offset)::boolean AS is_begin_right
    FROM event_log_batches JOIN event_log_partitions USING (partition)
    GROUP BY partition, start_offset ORDER BY partition`);
}

type Case = {
  readonly job: Job<JobNeeds>;
  /** After which statement it is killed, or at its end, which is not stored. */
  readonly at: string;
  readonly prepare: (world: World) => Promise<void>;
  readonly look: (world: World) => Promise<unknown>;
  readonly done: unknown;
};

const expire = {
  job: EXPIRE_EVENTS,
  prepare: countOldEvents,
  look: eventsLeft,
  done: { events: 0, ids: EVENTS, usage: EVENTS, expired: EVENTS },
};
const trim = {
  job: TRIM_EVENT_LOG,
  prepare: countOldEvents,
  look: logLeft,
  done: [0, 1].map((partition) => ({ partition, batches: 1, is_begin_right: true })),
};
const retire = {
  job: RETIRE_METER_VERSIONS,
  prepare: changeMeter,
  look: versionsRetired,
  done: { retired: 1 },
};

/** Every job of the aggregator, killed at each of its steps that change something. */
const CASES: readonly Case[] = [
  ...['INSERT INTO expired_events_v1', 'expire_month', 'DROP PARTITION', 'end'].map((at) => ({
    ...expire,
    at,
  })),
  ...['trim 0', 'end'].map((at) => ({ ...trim, at })),
  { ...retire, at: 'end' },
];

describe('a process that is killed in the middle of a job', () => {
  test.for(CASES.map((each) => [each.job.name, each.at, each] as const))(
    'leaves nothing undone and has nothing done twice: %s, at %s',
    async ([name, at, { job, prepare, look, done }], { world, clickhouse }) => {
      await prepare(world);
      const { database, clickhouse: client } = world;
      // The aggregators of the preparation have run it, with nothing to do for it yet.
      await ownerOf(database).query(run`DELETE FROM jobs`);
      await declareSchedules(database.slonik, [job], { now: Date.now(), newId: createId });
      const log = await openPostgresReader({ url: database.url, retentionMs: 0 });
      try {
        const urls = { databaseUrl: database.url, clickHouseUrl: clickhouse.url };
        await killInJob('aggregator/testing/hang-in-job', { job: name, at, ...urls });
        const needs = {
          database,
          clickhouse: client,
          log,
          logger: createLog('test', 'silent'),
          retentionDays: 35,
          removalDelaySeconds: 0,
          revertHours: 0,
        };
        await finishJob(database, job, needs);
        expect(await look(world)).toEqual(done);
      } finally {
        await log.close();
      }
    },
  );
});
