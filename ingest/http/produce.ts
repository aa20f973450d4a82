import type { AppendRequest, EventLogWriter } from '../../event-log/event-log.js';
import { DependencyError } from '../../runtime/failure.js';
import type { Metrics } from '../../runtime/metrics.js';
import type { BodyLease } from './body-budget.js';

export type Producing = {
  readonly writer: EventLogWriter;
  readonly metrics: Pick<Metrics, 'produceSeconds'>;
  /** The writer has time-outs of its own; this one holds even when it never settles. */
  readonly produceTimeoutMs: number;
};

/**
 * Resolves when the log has acknowledged every record (invariant I1). The lease is held until the
 * log has settled, since it keeps the records until then, whatever the client was told.
 * @throws DependencyError when that could not be confirmed in time.
 */
export async function produce(
  records: readonly AppendRequest[],
  lease: BodyLease,
  producing: Producing,
): Promise<void> {
  const startedAt = performance.now();
  const appended = producing.writer.append(records);
  lease.holdUntil(appended);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = `no acknowledgement within ${producing.produceTimeoutMs} ms`;
      reject(new DependencyError(message, { dependency: 'event-log', isRetryable: true }));
    }, producing.produceTimeoutMs);
  });
  try {
    await Promise.race([appended, late]);
    producing.metrics.produceSeconds.observe((performance.now() - startedAt) / 1000);
  } finally {
    clearTimeout(timer);
  }
}
