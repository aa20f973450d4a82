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

function lateness(timeoutMs: number): DependencyError {
  const message = `no acknowledgement within ${timeoutMs} ms`;
  return new DependencyError(message, { dependency: 'event-log', isRetryable: true });
}

/**
 * Resolves when the log has acknowledged every record (invariant I1). The lease is held until the
 * log has settled, since the log keeps the records until then, whatever the client was told.
 * @throws DependencyError when that could not be confirmed in time.
 */
export function produce(
  records: readonly AppendRequest[],
  lease: BodyLease,
  producing: Producing,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const { writer, metrics, produceTimeoutMs } = producing;
    const startedAt = performance.now();
    const timer = setTimeout(() => reject(lateness(produceTimeoutMs)), produceTimeoutMs);
    const letGo = lease.hold();
    const settled = (): void => {
      clearTimeout(timer);
      letGo();
    };
    const fail = (error: unknown): void => {
      settled();
      reject(error instanceof Error ? error : new TypeError(`append threw ${String(error)}`));
    };
    const succeed = (): void => {
      settled();
      metrics.produceSeconds.observe((performance.now() - startedAt) / 1000);
      resolve();
    };
    try {
      writer.append(records).then(succeed, fail);
    } catch (error) {
      fail(error);
    }
  });
}
