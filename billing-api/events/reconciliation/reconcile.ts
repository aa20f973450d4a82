import type { ClickHouseSettings } from '@clickhouse/client';
import type { ClickHouse } from '../../../clickhouse/client.js';
import { MINUTE_MS } from '../../../contract/instant.js';
import type { Clock } from '../../../runtime/clock.js';
import { messageOf } from '../../../runtime/failure.js';
import type { Log } from '../../../runtime/log.js';
import type { Metrics } from '../../../runtime/metrics.js';
import { balanceClosedHours } from './balance-closed-hours.js';
import { beginRecounts, recountForAWhile, sumOfDrifts } from './recount-turns.js';
import { readLongestWait } from './waiting-meters.js';
import type { BillingDatabase } from '../../records/unit.js';

const CHECK_MS = MINUTE_MS;
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

/**
 * Now and once a minute, compares accepted with stored events, recounts some meters, and writes the
 * result to metrics (docs/architecture.md I5). A check that fails leaves the figures of the last
 * one; the metric beside them says when they were found. Any number of processes may do this,
 * because each of them only reads.
 * @returns a function that stops the checks.
 */
export function startReconciliation(program: {
  readonly database: BillingDatabase;
  readonly clickHouse: ClickHouse;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}): () => Promise<void> {
  const { database, clock, log, metrics } = program;
  const engines = { database, clickHouse: program.clickHouse.withOptions({ settings: READS }) };
  const state = beginRecounts();
  const check = async (): Promise<void> => {
    const now = clock.now();
    metrics.meterWait.set(await readLongestWait(database));
    const difference = await balanceClosedHours(engines, now);
    metrics.reconciliationDifference.set(difference);
    await recountForAWhile(engines, state, now);
    const drift = sumOfDrifts(state);
    metrics.usageDrift.set(drift);
    metrics.reconciledAt.set(now / 1000);
    if (difference === 0 && drift === 0) return;
    log.error(
      { difference, drift, drifts: state.drifts.slice(0, DRIFTS_LOGGED) },
      'the reconciliation found a difference',
    );
  };
  let running: Promise<void> | null = null;
  const begin = (): void => {
    // One that takes longer than a minute is not started twice.
    running ??= check()
      .catch((error: unknown) => {
        log.warn({ error: messageOf(error) }, 'the reconciliation failed');
      })
      .finally(() => {
        running = null;
      });
  };
  // At once, too: a program that is started again often would otherwise never compare anything.
  begin();
  const timer = setInterval(begin, CHECK_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
