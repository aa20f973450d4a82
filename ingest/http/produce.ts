import type { AppendRequest, EventLogWriter } from '../../event-log/event-log.js';
import { DependencyError } from '../../runtime/failure.js';
import type { Metrics } from '../../runtime/metrics.js';
import type { BodyLease } from '../../runtime/http/body-budget.js';

export type ProducerDependencies = {
  readonly writer: EventLogWriter;
  readonly metrics: Pick<Metrics, 'produceSeconds'>;
  /** A guard beside the writer's own time-out, for a writer that never settles. */
  readonly produceTimeoutMs: number;
};

/**
 * Resolves when the log has acknowledged every record (docs/architecture.md I1). The lease is held
 * until the append settles, because the log keeps the records in memory until then, even after a
 * time-out.
 * @throws DependencyError when the log did not acknowledge the records in time.
 */
export type Produce = (records: readonly AppendRequest[], lease: BodyLease) => Promise<void>;

/** One timer for all appends costs a tenth of one timer per append. */
const SWEEPS_PER_TIMEOUT = 10;

type Pending = { readonly startedAtMs: number; readonly reject: (error: Error) => void };

function timeoutError(timeoutMs: number): DependencyError {
  const message = `no acknowledgement within ${timeoutMs} ms`;
  return new DependencyError(message, { dependency: 'event-log', isRetryable: true });
}

/** Appends that wait for the log, oldest first. */
class PendingAppends {
  readonly #pending = new Set<Pending>();
  #sweep: NodeJS.Timeout | null = null;

  constructor(private readonly timeoutMs: number) {}

  add(pending: Pending): void {
    this.#pending.add(pending);
    this.#sweep ??= setInterval(() => this.#rejectLate(), this.timeoutMs / SWEEPS_PER_TIMEOUT);
  }

  delete(pending: Pending): void {
    this.#pending.delete(pending);
  }

  #rejectLate(): void {
    const lateSince = performance.now() - this.timeoutMs;
    for (const pending of this.#pending) {
      if (pending.startedAtMs > lateSince) break;
      this.#pending.delete(pending);
      pending.reject(timeoutError(this.timeoutMs));
    }
    if (this.#pending.size > 0 || this.#sweep === null) return;
    clearInterval(this.#sweep);
    this.#sweep = null;
  }
}

export function createProduce(dependencies: ProducerDependencies): Produce {
  const { writer, metrics } = dependencies;
  const waiting = new PendingAppends(dependencies.produceTimeoutMs);
  return (records, lease) =>
    new Promise((resolve, reject) => {
      const pending: Pending = { startedAtMs: performance.now(), reject };
      const endHold = lease.hold();
      waiting.add(pending);
      const settled = (): void => {
        waiting.delete(pending);
        endHold();
      };
      const fail = (error: unknown): void => {
        settled();
        reject(error instanceof Error ? error : new TypeError(`append threw ${String(error)}`));
      };
      const succeed = (): void => {
        settled();
        metrics.produceSeconds.observe((performance.now() - pending.startedAtMs) / 1000);
        resolve();
      };
      try {
        writer.append(records).then(succeed, fail);
      } catch (error) {
        fail(error);
      }
    });
}
