import type { InstantMs } from '../../contract/instant.js';
import type { AppendRequest, EventLogWriter } from '../../event-log/interface/event-log.js';
import { DependencyError } from '../../runtime/failure.js';
import type { Metrics } from '../../runtime/metrics.js';
import type { BodyLease } from '../../runtime/http/body-budget.js';
import type { HeldRequests } from '../held/held-requests.js';

export type ProducerDependencies = {
  readonly writer: EventLogWriter;
  readonly metrics: Pick<Metrics, 'produceSeconds'>;
  /** What waits for the log, with a guard beside the writer's own time-out. */
  readonly held: HeldRequests;
};

/** What is handed to the log, all of it received at one instant (`HeldRequests.now`). */
export type Received = {
  readonly records: readonly AppendRequest[];
  readonly receivedAtMs: InstantMs;
};

/**
 * Resolves when the log has acknowledged every record in time (docs/internals/architecture.md I1).
 * The lease is held until the append settles, because the log keeps the records in memory until
 * then, even after a time-out.
 * @throws DependencyError when the log did not acknowledge the records in time, or nobody knows
 *   that this process may hold events.
 */
export type Produce = (received: Received, lease: BodyLease) => Promise<void>;

/** One timer for all appends costs a tenth of one timer per append. */
const SWEEPS_PER_TIMEOUT = 10;

function timeoutError(timeoutMs: number): DependencyError {
  const message = `no acknowledgement within ${timeoutMs} ms`;
  return new DependencyError(message, { dependency: 'event-log', isRetryable: true });
}

function unreportedError(): DependencyError {
  const message = 'PostgreSQL takes no reports of the events that this process holds';
  return new DependencyError(message, { dependency: 'postgres', isRetryable: true });
}

/** Gives late requests up, by a timer that runs while some are held. */
function createSweep(held: HeldRequests, timeoutMs: number): () => void {
  let sweep: NodeJS.Timeout | null = null;
  return () => {
    sweep ??= setInterval(() => {
      held.giveUpLate();
      if (held.isHolding || sweep === null) return;
      clearInterval(sweep);
      sweep = null;
    }, timeoutMs / SWEEPS_PER_TIMEOUT);
  };
}

export function createProduce(dependencies: ProducerDependencies): Produce {
  const { writer, metrics, held } = dependencies;
  const { produceTimeoutMs } = held.limits;
  const watch = createSweep(held, produceTimeoutMs);
  return ({ records, receivedAtMs }, lease) =>
    new Promise((resolve, reject) => {
      if (!held.isReporting) {
        reject(unreportedError());
        return;
      }
      const startedAtMs = performance.now();
      const request = held.hold(receivedAtMs, () => reject(timeoutError(produceTimeoutMs)));
      const endHold = lease.hold();
      watch();
      const fail = (error: unknown): void => {
        held.giveUp(request);
        endHold();
        reject(error instanceof Error ? error : new TypeError(`append threw ${String(error)}`));
      };
      const succeed = (): void => {
        const isInTime = held.acknowledge(request);
        endHold();
        metrics.produceSeconds.observe((performance.now() - startedAtMs) / 1000);
        if (isInTime) resolve();
        else reject(timeoutError(produceTimeoutMs));
      };
      try {
        writer.append(records).then(succeed, fail);
      } catch (error) {
        fail(error);
      }
    });
}
