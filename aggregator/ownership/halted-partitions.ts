import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../runtime/log.js';
import type { Metrics } from '../../runtime/metrics.js';
import type { HaltReason } from '../protocol/state.js';

/** What the log says may be wrong for a moment: a broker that leads no more, an old answer. */
const OF_THE_LOG: ReadonlySet<HaltReason> = new Set([
  ...(['log_shorter_than_checkpoint', 'log_start_beyond_checkpoint'] as const),
  ...(['log_record_missing'] as const),
]);

export type HaltTimes = {
  /** How long the log is asked again before the partition counts as halted. */
  readonly logDoubtedMs: number;
  /** How soon it is asked again meanwhile. */
  readonly logAskedMs: number;
  /** How soon a halted partition is taken again, to see whether somebody has mended it. */
  readonly lookMs: number;
  /** How long a partition must run, without work too, until its halt counts as mended. */
  readonly mendedMs: number;
};

export const HALT_TIMES: HaltTimes = {
  logDoubtedMs: 60_000,
  logAskedMs: 2_000,
  lookMs: 60_000,
  mendedMs: 5_000,
};

type Watch = Readonly<{ logger: Log; metrics: Metrics; times: HaltTimes }>;

/**
 * The partitions of a process that halted. Each is looked at again by itself, so that a cause that
 * has gone needs no restart.
 */
export class HaltedPartitions {
  /** Those that wait for an operator, with the reason. */
  readonly reasons = new Map<number, HaltReason>();
  readonly #doubtedSinceMs = new Map<number, number>();
  readonly #mending = new Map<number, NodeJS.Timeout>();

  constructor(private readonly watch: Watch) {}

  /** Reports a halt, and waits until the partition is to be taken again, or was given up. */
  async wait(partition: number, reason: HaltReason, signal: AbortSignal): Promise<void> {
    const { times, logger } = this.watch;
    clearTimeout(this.#mending.get(partition));
    const isDoubted = this.#isDoubted(partition, reason);
    if (isDoubted) logger.warn({ partition, reason }, 'the log does not fit PostgreSQL');
    else this.#report(partition, reason);
    const waitMs = isDoubted ? times.logAskedMs : times.lookMs;
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) this.forget(partition);
  }

  /** Stores and checkpoint agree again; whether the partition can count will show. */
  noteTaken(partition: number): void {
    if (this.reasons.get(partition) === 'insert_refused') return;
    if (!this.reasons.has(partition) && !this.#doubtedSinceMs.has(partition)) return;
    clearTimeout(this.#mending.get(partition));
    const forget = (): void => {
      this.forget(partition);
    };
    this.#mending.set(partition, setTimeout(forget, this.watch.times.mendedMs).unref());
  }

  /** The partition counts again, or is somebody else's. */
  forget(partition: number): void {
    clearTimeout(this.#mending.get(partition));
    this.#mending.delete(partition);
    this.#doubtedSinceMs.delete(partition);
    if (!this.reasons.delete(partition)) return;
    this.watch.metrics.partitionsHalted.set(this.reasons.size);
    this.watch.logger.info({ partition }, 'the partition is halted no more');
  }

  #isDoubted(partition: number, reason: HaltReason): boolean {
    if (!OF_THE_LOG.has(reason) || this.reasons.has(partition)) return false;
    const nowMs = performance.now();
    const sinceMs = this.#doubtedSinceMs.get(partition) ?? nowMs;
    this.#doubtedSinceMs.set(partition, sinceMs);
    return nowMs - sinceMs < this.watch.times.logDoubtedMs;
  }

  #report(partition: number, reason: HaltReason): void {
    const known = this.reasons.get(partition);
    this.reasons.set(partition, reason);
    this.watch.metrics.partitionsHalted.set(this.reasons.size);
    if (known === reason) return;
    this.watch.logger.fatal(
      { partition, reason },
      'partition halted, and looked at again every minute (docs/operations.md 8)',
    );
  }
}
