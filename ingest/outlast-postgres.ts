import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import type { Readiness } from '../runtime/readiness.js';
import { createSeldom } from '../runtime/seldom.js';
import type { StaleKeys } from '../sql/api-keys.js';

/** An outage is said again after this time, and not for each key. */
const LOG_INTERVAL_MS = 10_000;

/** Says that keys are used as they were last read, in the log and as a metric. */
export function createStaleKeys(
  forMs: number,
  { log, metrics }: { readonly log: Log; readonly metrics: Metrics },
): StaleKeys {
  const say = createSeldom(LOG_INTERVAL_MS);
  return {
    forMs,
    noteUse: () => {
      metrics.staleKeyUses.inc();
      say(() =>
        log.warn(
          { dependency: 'postgres', forSeconds: forMs / 1000 },
          'PostgreSQL does not answer: API keys are accepted as they were last read',
        ),
      );
    },
  };
}

/**
 * The readiness of a program that accepts events for a while without PostgreSQL. As long as it
 * does, PostgreSQL is named and does not count, since a load balancer must go on sending events.
 */
export function readyWithoutPostgres(readiness: Readiness, forMs: number): Readiness {
  let upAtMs = performance.now();
  return async () => {
    const report = await readiness();
    const { postgres, event_log: eventLog } = report.dependencies;
    const nowMs = performance.now();
    if (postgres === 'up') {
      upAtMs = nowMs;
      return report;
    }
    const isReady = nowMs - upAtMs < forMs && eventLog === 'up' && !report.isStopping;
    return { ...report, isReady };
  };
}
