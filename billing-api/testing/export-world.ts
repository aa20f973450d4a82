import type { Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';
import { queueDueWindows } from '../outward/exports/queue-due-windows.js';
import { EXPORT_ONE_WINDOW } from '../jobs/export-jobs.js';
import { occasionOfRun, type JobNeeds } from '../jobs/job-needs.js';
import { billingNeeds, billingRunner } from './bill-environment.js';
import type { BillingUnderTest } from './billing-harness.js';
import type { Answer } from './money-test.js';
import { setTestClock } from './set-test-clock.js';
import type { Engines } from './write-usage-minutes.js';

/** An environment that exports to a store. */
export type ExportWorld = {
  readonly connection: Answer;
  /** Before this instant every received event is counted; at every instant all, when absent. */
  readonly counted: { until?: InstantMs };
  /** A scheduled task, hourly and enabled unless it says otherwise. */
  readonly schedule: (entityType: string, members?: object, config?: object) => Promise<Answer>;
  readonly at: (instant: string) => Promise<void>;
  /** What the look for due windows does. */
  readonly queue: (instant: string) => Promise<void>;
  /** The look for due windows, and the jobs that it queues. */
  readonly work: (instant: string) => Promise<void>;
  readonly tasks: (scheduled: Answer) => Promise<Answer>;
};

export const EXPORT_BUCKET = 'lake';

/** Makes the connection to the store at an address, at an instant. */
export async function makeExportWorld(
  api: BillingUnderTest,
  { database, clickhouse }: Engines,
  store: { readonly url: string; readonly now: string },
): Promise<ExportWorld> {
  const environment: Environment = api.environment;
  const engines = { database: database.database, clickHouse: clickhouse.client, environment };
  let nowMs = Date.parse(store.now);
  const at = async (instant: string): Promise<void> => {
    nowMs = Date.parse(instant);
    await setTestClock(database.database, environment, Date.parse(instant));
  };
  await at(store.now);
  const connection = await api.make('/v1/connections', {
    name: 'Lake',
    provider_type: 's3',
    secrets: { access_key_id: 'example', secret_access_key: 'example secret' },
  });
  const counted: ExportWorld['counted'] = {};
  const dataUntil = (): Promise<InstantMs> => Promise.resolve(counted.until ?? nowMs);
  const needs: JobNeeds = { ...billingNeeds(engines), dataUntil };
  const runner = billingRunner(engines, [EXPORT_ONE_WINDOW], needs);
  const run = { job: 'queue-exports', runId: 'run', environment: null };
  const queue = async (instant: string): Promise<void> => {
    await at(instant);
    const occasion = occasionOfRun({ ...run, now: Date.parse(instant) }, environment);
    await queueDueWindows(needs, occasion);
  };
  return {
    connection,
    counted,
    at,
    queue,
    schedule: (entity_type, members = {}, config = {}) =>
      api.make('/v1/tasks/scheduled', {
        connection_id: connection.id,
        entity_type,
        interval: 'hourly',
        enabled: true,
        job_config: {
          bucket: EXPORT_BUCKET,
          region: 'eu-central-1',
          endpoint_url: store.url,
          use_path_style: true,
          ...config,
        },
        ...members,
      }),
    work: async (instant) => {
      await queue(instant);
      await runner.runDue(Date.parse(instant));
    },
    tasks: async ({ id }) => {
      const query = `scheduled_task_id=${id}&order=asc&sort=start_time&limit=1000`;
      return (await api.call('GET', `/v1/tasks?${query}`)).body.items;
    },
  };
}
