import { sql, type CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { ownerOf } from '../../load-tests/harness/owner.js';
import type { Environment } from '../../contract/environment.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { createId } from '../../runtime/ids.js';
import { createLog } from '../../runtime/log.js';
import { createMetrics } from '../../runtime/metrics.js';
import { noRows } from '../columns.js';
import { enqueue } from '../jobs/enqueue.js';
import { JobRunner } from '../jobs/job-runner.js';
import type { Job, JobRun, Queueable } from '../jobs/job.js';
import { declareSchedules } from '../jobs/job-table.js';
import type { Database } from '../pool.js';

const environmentOf = (name: string): Environment => ({
  tenantId: 'tenant_jobs',
  environmentId: `env_${name}`,
});

/** The environments of these tests. */
export const [ALPHA, BETA] = [environmentOf('alpha'), environmentOf('beta')];

/** Writes what a run did, in a table that the programs may write in any role. */
export async function note(tx: CommonQueryMethods, run: JobRun, text: string): Promise<void> {
  await tx.query(sql.type(noRows)`
    INSERT INTO job_effects (job, environment_id, at, text)
    VALUES (${run.job}, ${run.environment?.environmentId ?? null}, ${formatInstant(run.now)}, ${text})`);
}

const itemRow = z.object({
  name: z.string(),
  status: z.string(),
  attempts: z.number(),
  error: z.string().nullable(),
  run_at: z.number(),
});

/** Two environments, a table of effects, and what tests ask of the jobs in the database. */
export async function createJobWorld(database: Database) {
  const owner = ownerOf(database);
  await owner.query(sql.type(noRows)`
    INSERT INTO tenants (id, name) VALUES ('tenant_jobs', 'Jobs')`);
  for (const { tenantId, environmentId } of [ALPHA, BETA]) {
    await owner.query(sql.type(noRows)`
      INSERT INTO environments (id, tenant_id, name, type)
      VALUES (${environmentId}, ${tenantId}, ${environmentId}, 'production')`);
  }
  await owner.query(sql.type(noRows)`
    CREATE TABLE job_effects (id integer GENERATED ALWAYS AS IDENTITY, job text, environment_id text,
      at timestamptz(3), text text)`);
  await owner.query(sql.type(noRows)`
    GRANT SELECT, INSERT ON job_effects TO minutebook_app, minutebook_programs`);
  return {
    owner,
    /** The effects in the order in which they were written: environment, text, and instant. */
    effects: () =>
      owner.any(
        sql.type(z.object({ job: z.string(), text: z.string(), at: z.number() }))`
          SELECT job, text, at FROM job_effects ORDER BY id`,
      ),
    items: () =>
      owner.any(sql.type(itemRow)`
        SELECT name, status, attempts, error, run_at FROM jobs ORDER BY created_at, id`),
    enqueue: <Input>(
      job: Queueable<Input>,
      input: Input,
      at: {
        readonly environment?: Environment;
        readonly now: InstantMs;
        readonly dueAt?: InstantMs;
      },
    ) => {
      const environment = at.environment ?? ALPHA;
      const { now, dueAt = now } = at;
      return database.asEnvironment(environment, (tx) =>
        enqueue({ tx, environment, now, newId: createId }, job, { input, dueAt }),
      );
    },
    declare: (jobs: readonly Job<never>[], now: InstantMs) =>
      declareSchedules(database.slonik, jobs, { now, newId: createId }),
    runnerOf: <Needs>(jobs: readonly Job<Needs>[], needs: Needs) => {
      const log = createLog('test', 'silent');
      const metrics = createMetrics();
      return new JobRunner({ database, jobs, needs, log, metrics });
    },
  };
}

export type JobWorld = Awaited<ReturnType<typeof createJobWorld>>;
