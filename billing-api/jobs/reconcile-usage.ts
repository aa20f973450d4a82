import type { ClickHouseSettings } from '@clickhouse/client';
import { z } from 'zod';
import { MINUTE_MS } from '../../contract/instant.js';
import { messageOf } from '../../runtime/failure.js';
import { defineJob, type Given } from '../../sql/jobs/job.js';
import { balanceClosedHours } from '../events/reconciliation/balance-closed-hours.js';
import {
  beginRecounts,
  recountForAWhile,
  recountState,
  sumOfDrifts,
} from '../events/reconciliation/recount-turns.js';
import type { JobNeeds } from './job-needs.js';

const DRIFTS_LOGGED = 20;

/**
 * The server ends these reads before the client gives them up, and when it has: a read that nobody
 * waits for would only delay the next one.
 */
const READS: ClickHouseSettings = {
  readonly: '2',
  cancel_http_readonly_queries_on_client_close: 1,
  max_execution_time: 55,
};

/** What the last reconciliation found, and where the recounts stand. */
const reconciliation = z.object({
  recounts: recountState,
  difference: z.number(),
  /** When the difference and all recounts of a turn were last read without a failure. */
  reconciledAt: z.number().nullable(),
});
type Reconciliation = z.output<typeof reconciliation>;

async function reconcile(
  { state, run }: Given<unknown, Reconciliation>,
  { database, clickHouse, log }: JobNeeds,
): Promise<{ readonly state: Reconciliation }> {
  const engines = { database, clickHouse: clickHouse.withOptions({ settings: READS }) };
  const recounts = state?.recounts ?? beginRecounts();
  const difference = await balanceClosedHours(engines, run.now);
  try {
    await recountForAWhile(engines, recounts, run.now);
  } catch (error) {
    // Where the recounts stand is kept: they go on with less at a time.
    log.warn({ error: messageOf(error) }, 'the reconciliation failed');
    return { state: { recounts, difference, reconciledAt: state?.reconciledAt ?? null } };
  }
  const drift = sumOfDrifts(recounts);
  if (difference !== 0 || drift !== 0) {
    log.error(
      { difference, drift, drifts: recounts.drifts.slice(0, DRIFTS_LOGGED) },
      'the reconciliation found a difference',
    );
  }
  return { state: { recounts, difference, reconciledAt: run.now } };
}

/**
 * Once a minute, compares accepted with stored events, recounts some meters, and shows the result
 * in the metrics of every process (docs/internals/architecture.md I5). A check that fails leaves
 * the figures of the last one; the metric beside them says when they were found.
 */
export const RECONCILE_USAGE = defineJob({
  name: 'reconcile-usage',
  schedule: { everyMs: MINUTE_MS },
  input: z.object({}),
  state: reconciliation,
  withLease: reconcile,
  show: ({ difference, recounts, reconciledAt }, metrics) => {
    metrics.reconciliationDifference.set(difference);
    metrics.usageDrift.set(sumOfDrifts(recounts));
    if (reconciledAt !== null) metrics.reconciledAt.set(reconciledAt / 1_000);
  },
});
