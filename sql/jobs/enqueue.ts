import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import type { IdSource } from '../../runtime/ids.js';
import { statement } from '../statement.js';
import type { Queueable } from './job.js';

const enqueueJob = statement('enqueue-job', z.unknown());

/** The change with which a job is queued: a unit of billing-api is one. */
type Queueing = {
  readonly tx: CommonQueryMethods;
  readonly environment: Environment;
  readonly now: InstantMs;
  readonly newId: IdSource;
};

/**
 * Queues a job in the transaction of a change: it is done after the change is committed, and never
 * when it is rolled back.
 * @param dueAt from when on it may run; at once when absent.
 */
export async function enqueue<Input>(
  { tx, environment, now, newId }: Queueing,
  job: Queueable<Input>,
  { input, dueAt = now }: { readonly input: Input; readonly dueAt?: InstantMs },
): Promise<void> {
  await tx.query(
    enqueueJob({
      ...environment,
      id: newId('job'),
      name: job.name,
      key: job.keyOf(input),
      input: JSON.stringify(input),
      dueAt: formatInstant(dueAt),
      at: formatInstant(now),
      once: job.onceWhileWaiting,
    }),
  );
}
