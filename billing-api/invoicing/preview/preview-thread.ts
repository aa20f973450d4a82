import { parentPort, workerData } from 'node:worker_threads';
import { createClickHouse } from '../../../clickhouse/client.js';
import { createRequestQueries, QueryTooLarge } from '../../../clickhouse/request-queries.js';
import { systemClock } from '../../../runtime/clock.js';
import { DependencyError } from '../../../runtime/failure.js';
import { createDatabase } from '../../../sql/pool.js';
import { answerPreview } from './answer-preview.js';
import type { PreviewOutcome, PreviewSettings } from './large-previews.js';
import { KnownCustomers } from '../../customers/known-customers.js';
import { isRefusal, Refused, type Refusal } from '../../records/refusal.js';
import { createExpiredEvents } from '../../usage/expired/expired-events.js';
import { createRawEventsBegin } from '../../usage/expired/raw-events-begin.js';
import { refuseExpiredUsage } from '../../usage/expired/refuse-expired-usage.js';
import { createUsageReader } from '../../usage/store/usage-reader.js';

// A thread of billing-api that computes one large preview (invoicing/preview/large-previews.ts).

/** One for the snapshot, and one for what is asked meanwhile. */
const POOL_SIZE = 2;

const { databaseUrl, clickHouseUrl, occasion, body, dataUntil } =
  // What large-previews.ts gave.
  workerData as PreviewSettings;

function refusalOutcome({ code, message, details }: Refusal): PreviewOutcome {
  return { kind: 'refusal', code, message, details };
}

/** @throws what is no answer to a request. */
function outcomeOfError(error: unknown): PreviewOutcome {
  if (error instanceof Refused) return refusalOutcome(error.refusal);
  if (error instanceof QueryTooLarge) return { kind: 'too-large' };
  if (!(error instanceof DependencyError)) throw error;
  const { message, dependency, isRetryable } = error;
  return { kind: 'outage', message, dependency, isRetryable };
}

async function compute(): Promise<PreviewOutcome> {
  const database = await createDatabase(databaseUrl, { poolSize: POOL_SIZE });
  // The thread ends when the client leaves, and its queries with it.
  const { signal } = new AbortController();
  const { environment } = occasion;
  const reader = createRequestQueries(createClickHouse(clickHouseUrl), () => ({
    environment,
    signal,
  }));
  const readRawEventsBegin = createRawEventsBegin(database, () => performance.now());
  const dependencies = {
    database,
    clock: systemClock,
    dataUntil: () => Promise.resolve(dataUntil),
    usage: refuseExpiredUsage(
      createUsageReader(reader),
      createExpiredEvents(reader, readRawEventsBegin),
    ),
    knownCustomers: new KnownCustomers(),
  };
  const answer = await answerPreview(dependencies, occasion, body);
  return isRefusal(answer) ? refusalOutcome(answer) : { kind: 'answer', answer };
}

parentPort?.postMessage(await compute().catch(outcomeOfError));
