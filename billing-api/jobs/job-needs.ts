import type { ClickHouse } from '../../clickhouse/client.js';
import { queriesFor } from '../../clickhouse/request-queries.js';
import { systemClock } from '../../runtime/clock.js';
import { createId } from '../../runtime/ids.js';
import { createOutboundAgents } from '../../runtime/guarded-agents.js';
import type { Log } from '../../runtime/log.js';
import { createSecretBox } from '../../runtime/secret-box.js';
import type { JobRun } from '../../sql/jobs/job.js';
import type { Environment } from '../../contract/environment.js';
import { assertPresent } from '../../runtime/failure.js';
import type { ExportNeeds } from '../outward/exports/export-needs.js';
import { KnownCustomers } from '../customers/known-customers.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { createExpiredEvents } from '../usage/expired/expired-events.js';
import {
  createRawEventsBegin,
  type ReadRawEventsBegin,
} from '../usage/expired/raw-events-begin.js';
import { refuseExpiredUsage } from '../usage/expired/refuse-expired-usage.js';
import { createUsageReader, type UsageReader } from '../usage/store/usage-reader.js';
import type { ReadDataUntil } from '../usage/watermark/data-until.js';

/** What the jobs of billing-api work with. */
export type JobNeeds = ExportNeeds & {
  /** As the programs' user, who reads all environments. */
  readonly clickHouse: ClickHouse;
  readonly log: Log;
};

/** Who a run of a job is, where it writes, and when. */
export function occasionOfRun(
  run: Pick<JobRun, 'job' | 'runId' | 'environment' | 'now'>,
  environment?: Environment,
): Occasion<JobActor> {
  const actor = { kind: 'job', job: run.job, runId: run.runId } as const;
  if (environment !== undefined) return { environment, actor };
  const own = assertPresent(run.environment, 'the environment of the job');
  return { environment: own, actor, at: run.now };
}

/** What a program has, from which the needs of its jobs are made. */
export type JobEngines = Pick<JobNeeds, 'database' | 'clickHouse' | 'log'> & {
  /** As the user who reads usage; the programs' user when absent. */
  readonly reader?: ClickHouse;
  /** Up to when events are counted. */
  readonly dataUntil: ReadDataUntil;
  /** With which secrets of others are kept; without it there are none. */
  readonly secretsKey?: string | undefined;
  /** That until now, while it is replaced. */
  readonly previousSecretsKey?: string | undefined;
  /** Whether files may go to addresses in a private network; not when absent. */
  readonly arePrivateTargetsAllowed?: boolean;
};

/**
 * Usage of whichever environment is asked about. A job has no request that names one, so each
 * statement does: otherwise the user who reads usage would see nothing, and bill nothing.
 */
function createUsageOfAny(reader: ClickHouse, readBegin: ReadRawEventsBegin): UsageReader {
  const usageOf = (environment: Environment): UsageReader => {
    const queries = queriesFor(reader, environment);
    return refuseExpiredUsage(createUsageReader(queries), createExpiredEvents(queries, readBegin));
  };
  return {
    read: (batch) => usageOf(batch.environment).read(batch),
    findLateEvents: (batch, ends) => usageOf(batch.environment).findLateEvents(batch, ends),
    readEverybody: (environment, queries) =>
      usageOf(environment).readEverybody(environment, queries),
    listCustomerKeys: (environment, queries) =>
      usageOf(environment).listCustomerKeys(environment, queries),
  };
}

/** What the jobs of billing-api need, made of what the program has. */
export function createJobNeeds(engines: JobEngines): JobNeeds {
  const { database, clickHouse, log, reader = clickHouse, secretsKey } = engines;
  const { arePrivateTargetsAllowed = false } = engines;
  const readRawEventsBegin = createRawEventsBegin(database, () => performance.now());
  return {
    database,
    clickHouse,
    log,
    clock: systemClock,
    createId,
    usage: createUsageOfAny(reader, readRawEventsBegin),
    dataUntil: engines.dataUntil,
    knownCustomers: new KnownCustomers(),
    secretBox:
      secretsKey === undefined ? null : createSecretBox(secretsKey, engines.previousSecretsKey),
    outbound: createOutboundAgents({ arePrivateTargetsAllowed }),
  };
}
