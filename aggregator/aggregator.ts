import { randomUUID } from 'node:crypto';
import type { ClickHouse } from '../clickhouse/client.js';
import type { EventLogReader } from '../event-log/event-log.js';
import { messageOf } from '../runtime/failure.js';
import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import type { Database } from '../sql/pool.js';
import { createBackfillJobs } from './backfill/backfill-jobs.js';
import { runBackfills } from './backfill/run-backfills.js';
import { createCatalogReader } from './catalog.js';
import { FALSE_POSITIVE_RATE_DEFAULT, FilterShelf } from './dedup/filter-shelf.js';
import type { IdFilter, Warming } from './dedup/id-filter.js';
import { createCheckpointStore } from './partition/checkpoint-store.js';
import type { FetchLimits } from './partition/fetch-batch.js';
import { createMembership, type SharingView } from './partition/membership.js';
import { PartitionSharing } from './partition/partition-sharing.js';
import { runPartition, type PartitionRun, type Sabotage } from './partition/run-partition.js';
import type { HaltReason } from './protocol/state.js';
import { UsageStore } from './sink/usage-store.js';

const REVERT_HOURS_DEFAULT = 168;

export type AggregatorDependencies = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly log: EventLogReader;
  readonly logger: Log;
  readonly metrics: Metrics;
  readonly limits: FetchLimits;
  /** Share of new ids that are looked up in vain; 0.01 when absent. */
  readonly filterFalsePositiveRate?: number;
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
  readonly #sharing;
  readonly #checkpoints;
  readonly #catalog;
  readonly #shelf;
  #fail: (error: unknown) => void = () => undefined;
  #backfilling: Promise<void> = Promise.resolve();
  #measuring: Promise<void> | null = null;

  constructor(private readonly dependencies: AggregatorDependencies) {
    const { database, clickhouse, log } = dependencies;
    const { logId } = log.identity;
    const memberId = randomUUID();
    this.#membership = createMembership(database, logId, memberId);
    this.#checkpoints = createCheckpointStore(database, { log: logId, memberId });
    this.#sharing = new PartitionSharing({
      membership: this.#membership,
      runner: {
        assign: (partitions) => {
          this.#assign(partitions);
        },
        isRunning: (partition) => this.#owned.has(partition),
        observe: (view) => {
          this.#measuring ??= this.#measure(view).finally(() => {
            this.#measuring = null;
          });
        },
      },
      logger: dependencies.logger,
      databaseUrl: database.url,
      logId,
    });
    this.#catalog = createCatalogReader(database, () => performance.now());
    const falsePositiveRate = dependencies.filterFalsePositiveRate ?? FALSE_POSITIVE_RATE_DEFAULT;
    this.#shelf = new FilterShelf({ clickhouse, logId, falsePositiveRate });
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
    this.#sharing.start();
    const jobs = createBackfillJobs(database);
    const revertHours = this.dependencies.meterRevertHours ?? REVERT_HOURS_DEFAULT;
    this.#backfilling = runBackfills({ jobs, clickhouse, logger, revertHours }, this.#stop.signal);
  }

  /** Hands every partition over after the batch under way, leaves the group and resolves. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#sharing.startLeaving();
    this.#giveAllBut(new Set());
    // The beat goes on meanwhile: a batch that takes long is finished and not taken over.
    await Promise.all([...this.#owned.values()].map(({ ended }) => ended));
    await Promise.all([this.#sharing.close(), this.#backfilling, this.#measuring]);
  }

  /** Rejects when a partition stopped and waits for an operator. */
  assertNoneHalted(): Promise<void> {
    const stopped = [...this.halted].map(([partition, reason]) => `${partition}: ${reason}`);
    if (stopped.length === 0) return Promise.resolve();
    return Promise.reject(new Error(`stopped partitions (${stopped.join(', ')})`));
  }

  #assign(partitions: ReadonlySet<number>): void {
    this.#giveAllBut(partitions);
    if (this.#stop.signal.aborted) return;
    for (const partition of partitions) if (!this.#owned.has(partition)) this.#take(partition);
  }

  /** Not awaited: a batch that hangs must not silence the heartbeat. */
  #giveAllBut(partitions: ReadonlySet<number>): void {
    for (const [partition, { stop }] of this.#owned) if (!partitions.has(partition)) stop.abort();
  }

  #take(partition: number): void {
    const { clickhouse, log } = this.dependencies;
    const stop = new AbortController();
    const store = new UsageStore(clickhouse, log.identity.logId, partition);
    const filter = this.#shelf.take(partition);
    const ended = this.#own({ partition, store, filter, signal: stop.signal })
      .catch((error: unknown) => {
        this.#fail(error);
      })
      .finally(() => {
        this.#owned.delete(partition);
      });
    this.#owned.set(partition, { stop, ended, filter });
  }

  /**
   * Runs a partition until it is given up, is fenced or halts. One that was fenced is run again
   * when PostgreSQL still says that it is ours.
   */
  async #own(own: Pick<PartitionRun, 'partition' | 'store' | 'filter' | 'signal'>): Promise<void> {
    const { partition, signal } = own;
    const { logger, metrics, log } = this.dependencies;
    const run = {
      ...this.dependencies,
      ...own,
      checkpoints: this.#checkpoints,
      catalog: this.#catalog,
      partitionsRunning: () => this.#owned.size,
      onWarm: (how: Warming, seconds: number) => {
        metrics.filterWarmSeconds.observe({ how }, seconds);
      },
    };
    metrics.partitionTakes.inc({ reason: 'assigned' });
    const end = await runPartition(run);
    metrics.partitionEpoch.set({ partition: String(partition) }, 0);
    if (typeof end === 'object') await this.#halt(partition, end.halted, signal);
    else this.#shelf.keep(partition, own.filter);
    if (end === 'lost') logger.info({ partition }, 'fenced by another owner');
    if (signal.aborted) await this.#release(partition);
    await log.release(partition);
  }

  /** Lets the next owner begin. */
  async #release(partition: number): Promise<void> {
    try {
      await this.#membership.release(partition, !this.#stop.signal.aborted);
    } catch (error) {
      // It stays ours on paper, and the next look at who shares what releases it.
      this.dependencies.logger.warn(
        { partition, error: messageOf(error) },
        'could not release a partition',
      );
    }
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

  async #measure({ nextOffsets }: SharingView): Promise<void> {
    const { log, metrics, logger } = this.dependencies;
    const filters = [...this.#owned.values()].map(({ filter }) => filter.size);
    metrics.knownIds.set(filters.reduce((sum, size) => sum + size, this.#shelf.others.size));
    try {
      for (const partition of this.#owned.keys()) {
        const { endOffset } = await log.bounds(partition);
        const lag = Math.max(0, endOffset - (nextOffsets[partition] ?? 0));
        metrics.partitionLag.set({ partition: String(partition) }, lag);
      }
    } catch (error) {
      logger.warn({ error: messageOf(error) }, 'could not measure the lag');
    }
  }
}
