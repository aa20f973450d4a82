import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouse } from '../clickhouse/client.js';
import type { EventLogReader } from '../event-log/event-log.js';
import { messageOf } from '../runtime/failure.js';
import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import type { Database } from '../sql/pool.js';
import { createBackfillJobs } from './backfill/backfill-jobs.js';
import { runBackfills } from './backfill/run-backfills.js';
import { createCatalogReader } from './catalog.js';
import { IdFilter } from './dedup/id-filter.js';
import { partitionsOf } from './partition/assign-partitions.js';
import { createCheckpointStore } from './partition/checkpoint-store.js';
import type { FetchLimits } from './partition/fetch-batch.js';
import { createMembership } from './partition/membership.js';
import { runPartition, type PartitionRun, type Sabotage } from './partition/run-partition.js';
import type { HaltReason } from './protocol/state.js';
import { UsageStore } from './sink/usage-store.js';

const HEARTBEAT_MS = 1_000;
const REVERT_HOURS_DEFAULT = 168;
/** After another process has fenced us; long enough for both to have the same list of members. */
const RETAKE_PAUSE_MS = 1_500;

export type AggregatorDependencies = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly log: EventLogReader;
  readonly logger: Log;
  readonly metrics: Metrics;
  readonly limits: FetchLimits;
  /** How long the previous version of a changed meter is still fed; a week when absent. */
  readonly meterRevertHours?: number;
  readonly sabotage?: Sabotage;
  readonly retryDelayMs?: (failures: number) => number;
};

type Owned = {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly filter: IdFilter;
};

/** One aggregator process: shares the partitions with its peers and runs those that are its own. */
export class Aggregator {
  /** Partitions that stopped with a contradiction between stores, and which. */
  readonly halted = new Map<number, HaltReason>();
  /** Rejects when a partition meets a bug; the process should then exit. */
  readonly failure: Promise<never>;

  readonly #owned = new Map<number, Owned>();
  readonly #stop = new AbortController();
  readonly #membership;
  readonly #checkpoints;
  readonly #catalog;
  #fail: (error: unknown) => void = () => undefined;
  #sharing: Promise<void> = Promise.resolve();
  #backfilling: Promise<void> = Promise.resolve();

  constructor(private readonly dependencies: AggregatorDependencies) {
    const { database, log } = dependencies;
    const { logId } = log.identity;
    this.#membership = createMembership(database, logId, randomUUID());
    this.#checkpoints = createCheckpointStore(database, logId);
    this.#catalog = createCatalogReader(database, () => performance.now());
    this.failure = new Promise<never>((_resolve, reject) => {
      this.#fail = reject;
    });
    // Whoever awaits it gets the error; without a listener it must not end the process by itself.
    this.failure.catch(() => undefined);
  }

  /** Makes the checkpoints and starts sharing partitions. @throws DependencyError. */
  async start(): Promise<void> {
    const { database, clickhouse, log, logger } = this.dependencies;
    const partitions = Array.from({ length: log.identity.partitionCount }, (_, index) => index);
    const bounds = await Promise.all(partitions.map((partition) => log.bounds(partition)));
    const late = await this.#checkpoints.ensure(bounds.map(({ startOffset }) => startOffset));
    if (late.length > 0) {
      logger.warn({ partitions: late }, 'the log no longer holds its first records');
    }
    this.#sharing = this.#shareForEver();
    const jobs = createBackfillJobs(database);
    const revertHours = this.dependencies.meterRevertHours ?? REVERT_HOURS_DEFAULT;
    this.#backfilling = runBackfills({ jobs, clickhouse, logger, revertHours }, this.#stop.signal);
  }

  /** Finishes the batches under way, leaves the group and resolves. */
  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all([this.#sharing, this.#backfilling]);
    await this.#give(() => true);
    try {
      await this.#membership.leave();
    } catch (error) {
      this.dependencies.logger.warn({ error: messageOf(error) }, 'could not leave the group');
    }
  }

  /** Rejects when a partition stopped and waits for an operator. */
  assertNoneHalted(): Promise<void> {
    const stopped = [...this.halted].map(([partition, reason]) => `${partition}: ${reason}`);
    if (stopped.length === 0) return Promise.resolve();
    return Promise.reject(new Error(`stopped partitions (${stopped.join(', ')})`));
  }

  async #shareForEver(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await this.#share();
      await delay(HEARTBEAT_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #share(): Promise<void> {
    const { logger, log } = this.dependencies;
    try {
      const members = await this.#membership.beat();
      const { memberId } = this.#membership;
      const mine = new Set(partitionsOf(memberId, members, log.identity.partitionCount));
      // Not awaited: a batch that hangs must not silence the heartbeat.
      void this.#give((partition) => !mine.has(partition));
      for (const partition of mine) if (!this.#owned.has(partition)) this.#take(partition);
      await this.#measure();
    } catch (error) {
      logger.warn({ error: messageOf(error) }, 'could not share the partitions');
    }
  }

  async #give(isToGive: (partition: number) => boolean): Promise<void> {
    const leaving = [...this.#owned].filter(([partition]) => isToGive(partition));
    for (const [, owned] of leaving) owned.stop.abort();
    await Promise.all(leaving.map(([, owned]) => owned.ended));
  }

  #take(partition: number): void {
    const { clickhouse, log } = this.dependencies;
    const stop = new AbortController();
    const store = new UsageStore(clickhouse, log.identity.logId, partition);
    const filter = new IdFilter(store);
    const ended = this.#own({ partition, store, filter, signal: stop.signal })
      .catch((error: unknown) => {
        this.#fail(error);
      })
      .finally(() => {
        this.#owned.delete(partition);
      });
    this.#owned.set(partition, { stop, ended, filter });
  }

  /** Runs a partition again and again until it is given up or halts. */
  async #own(own: Pick<PartitionRun, 'partition' | 'store' | 'filter' | 'signal'>): Promise<void> {
    const { partition, signal } = own;
    const { logger, metrics, log } = this.dependencies;
    const run = {
      ...this.dependencies,
      ...own,
      checkpoints: this.#checkpoints,
      catalog: this.#catalog,
    };
    while (!signal.aborted) {
      metrics.partitionTakes.inc({ reason: 'assigned' });
      const end = await runPartition(run);
      metrics.partitionEpoch.set({ partition: String(partition) }, 0);
      if (typeof end === 'object') return this.#halt(partition, end.halted, signal);
      if (end === 'lost') {
        logger.info({ partition }, 'fenced by another owner');
        await delay(RETAKE_PAUSE_MS, undefined, { signal }).catch(() => undefined);
      }
    }
    await log.release(partition);
  }

  /** Keeps a contradiction in sight until an operator restarts the process. */
  async #halt(partition: number, reason: HaltReason, signal: AbortSignal): Promise<void> {
    const { logger, metrics } = this.dependencies;
    this.halted.set(partition, reason);
    metrics.partitionsHalted.set(this.halted.size);
    logger.fatal(
      { partition, reason },
      'partition stopped: log, Postgres and ClickHouse contradict each other',
    );
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    this.halted.delete(partition);
    metrics.partitionsHalted.set(this.halted.size);
  }

  async #measure(): Promise<void> {
    const { log, metrics } = this.dependencies;
    const filters = [...this.#owned.values()].map(({ filter }) => filter.size);
    metrics.knownIds.set(filters.reduce((sum, size) => sum + size, 0));
    for (const partition of this.#owned.keys()) {
      const { endOffset } = await log.bounds(partition);
      const { nextOffset } = await this.#checkpoints.read(partition);
      metrics.partitionLag.set(
        { partition: String(partition) },
        Math.max(0, endOffset - nextOffset),
      );
    }
  }
}
