import { randomUUID } from 'node:crypto';
import type { ClickHouse } from '../clickhouse/client.js';
import { createOneServer } from '../clickhouse/one-server.js';
import type { EventLogReader } from '../event-log/interface/event-log.js';
import { assertPresent, messageOf } from '../runtime/failure.js';
import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import { Rest } from '../runtime/rest.js';
import { createSeldom } from '../runtime/seldom.js';
import { useLogToCount } from '../sql/log-in-use.js';
import type { Database } from '../sql/pool.js';
import { asynchronousStandbys } from '../sql/standbys.js';
import { systemClock } from '../runtime/clock.js';
import { startJobs } from '../sql/jobs/start-jobs.js';
import { createBackfillJobs } from './backfill/backfill-jobs.js';
import { runBackfills } from './backfill/run-backfills.js';
import { createCatalogReader } from './gather/catalog.js';
import { COUNTED_LOOKS, runCountedNotes } from './data-until/note-counted.js';
import { FALSE_POSITIVE_RATE_DEFAULT, IdFilterCache } from './dedup/id-filter-cache.js';
import type { IdFilter, Warming } from './dedup/id-filter.js';
import { createCheckpointStore, readPreviousLogs } from './checkpoints/checkpoint-store.js';
import { createProcessFlushes } from './flush/process-flushes.js';
import { charactersOfPartition, type FlushLimits } from './gather/gather-bounds.js';
import { HALT_TIMES, HaltedPartitions, type HaltTimes } from './ownership/halted-partitions.js';
import type { Beating, Heart } from './ownership/heart.js';
import { createMembership, type SharingView } from './ownership/membership.js';
import { PartitionSharing } from './ownership/partition-sharing.js';
import { runPartition, type PartitionRun, type InjectFailure } from './ownership/run-partition.js';
import type { HaltReason } from './protocol/state.js';
import { runLogWatch } from './retention/watch-log-removal.js';
import { aggregatorJobs } from './jobs/aggregator-jobs.js';
import { IdLookUps } from './write/id-look-ups.js';
import { UsageWriter } from './write/usage-writer.js';

const REVERT_HOURS_DEFAULT = 168;
/** How old the lag that the metrics show may be; they are asked for less often. */
const LAG_EVERY_MS = 5_000;

export type AggregatorDependencies = {
  readonly database: Database;
  readonly clickhouse: ClickHouse;
  readonly log: EventLogReader;
  readonly logger: Log;
  readonly metrics: Metrics;
  readonly limits: FlushLimits;
  /** Share of new ids that are looked up in vain; 0.01 when absent. */
  readonly filterFalsePositiveRate?: number;
  /** How long the previous version of a changed meter still counts events; a week when absent. */
  readonly meterRevertHours?: number;
  /** How long raw events are kept; for ever when absent or null. */
  readonly eventRetentionDays?: number | null;
  /** Keeps this process a member while it computes; without it, only its own beats do. */
  readonly startHeart?: (beating: Beating) => Heart;
  readonly injectFailure?: InjectFailure;
  readonly retryDelayMs?: (failures: number) => number;
  /** Tests wait less before they look again. */
  readonly haltTimes?: HaltTimes;
};

type Owned = {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
  readonly filter: IdFilter;
};

/** One aggregator process: shares the partitions with the others and runs its own. */
export class Aggregator {
  /** Rejects at a bug in the run of a partition; the process should then exit. */
  readonly failure: Promise<never>;

  readonly #owned = new Map<number, Owned>();
  readonly #halted: HaltedPartitions;
  readonly #stop = new AbortController();
  readonly #server;
  readonly #membership;
  readonly #sharing;
  #heart: Heart | null = null;
  readonly #checkpoints;
  readonly #catalog;
  readonly #flushes;
  readonly #filters;
  readonly #lookUps;
  #fail: (error: unknown) => void = () => undefined;
  #loops: Promise<unknown> = Promise.resolve();
  #stopJobs: () => Promise<void> = () => Promise.resolve();
  #measuring: Promise<void> | null = null;
  readonly #seldom = createSeldom(LAG_EVERY_MS);
  /** Of what notes up to when events are counted. */
  readonly #counting = new Rest(COUNTED_LOOKS);

  constructor(private readonly dependencies: AggregatorDependencies) {
    const { database, clickhouse, log, haltTimes: times = HALT_TIMES } = dependencies;
    const { logId } = log.identity;
    this.#halted = new HaltedPartitions({ ...dependencies, times });
    const memberId = randomUUID();
    this.#server = createOneServer(database, clickhouse);
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
          this.#heart?.sign();
          this.#seldom(() => {
            this.#measuring ??= this.#measure(view).finally(() => {
              this.#measuring = null;
            });
          });
        },
      },
      logger: dependencies.logger,
      databaseUrl: database.url,
      logId,
    });
    this.#catalog = createCatalogReader(database, () => performance.now());
    this.#flushes = createProcessFlushes({
      ...dependencies,
      checkpoints: this.#checkpoints,
      catalog: this.#catalog,
      partitionsRunning: () => this.#owned.size,
    });
    const falsePositiveRate = dependencies.filterFalsePositiveRate ?? FALSE_POSITIVE_RATE_DEFAULT;
    this.#filters = new IdFilterCache({
      clickhouse,
      falsePositiveRate,
      identity: log.identity,
      previousLogs: () => readPreviousLogs(database, logId),
    });
    this.#lookUps = new IdLookUps(clickhouse, logId);
    this.failure = new Promise<never>((_resolve, reject) => {
      this.#fail = reject;
    });
    // The caller awaits it later; until then a rejection must not end the process by itself.
    this.failure.catch(() => undefined);
  }

  /**
   * Takes the log into use, creates missing checkpoints and starts sharing partitions.
   * @throws ConfigError when another log is in use, or has a batch that was begun; DependencyError.
   */
  async start(): Promise<void> {
    const { database, clickhouse, log, logger } = this.dependencies;
    await this.#server.begin();
    await useLogToCount(database, log.identity.logId);
    // Absent means none: only a log in Kafka has any of these.
    const { unusedPartitions = 0, warnings = [] } = log.identity;
    for (const warning of warnings) logger.warn({ warning }, 'the log should be changed');
    const warning = await asynchronousStandbys(database);
    if (warning !== null)
      logger.warn({ warning }, 'the replication of PostgreSQL should be changed');
    if (unusedPartitions > 0) {
      logger.warn(
        { unusedPartitions },
        'partitions were added to the topic of the log; they stay empty (docs/operations.md 3)',
      );
    }
    const partitions = Array.from({ length: log.identity.partitionCount }, (_, index) => index);
    const bounds = await Promise.all(partitions.map((partition) => log.bounds(partition)));
    const late = await this.#checkpoints.ensure(bounds.map(({ startOffset }) => startOffset));
    if (late.length > 0) {
      logger.warn(
        { partitions: late },
        'the log has lost its first records; events are counted from the oldest that it holds',
      );
    }
    const { memberId } = this.#membership;
    const beating = { databaseUrl: database.url, log: log.identity.logId, memberId };
    this.#heart = this.dependencies.startHeart?.(beating) ?? null;
    this.#sharing.start();
    const jobs = createBackfillJobs(database);
    const { signal } = this.#stop;
    this.#loops = Promise.all([
      runBackfills({ jobs, database, clickhouse, logger }, signal),
      runLogWatch(this.dependencies, signal),
      runCountedNotes(
        { ...this.dependencies, isOurs: () => this.#owned.has(0), rest: this.#counting },
        signal,
      ),
    ]);
    this.#stopJobs = await this.#startJobs();
  }

  #startJobs(): Promise<() => Promise<void>> {
    const { database, logger, metrics, log } = this.dependencies;
    const needs = {
      ...this.dependencies,
      retentionDays: this.dependencies.eventRetentionDays ?? null,
      revertHours: this.dependencies.meterRevertHours ?? REVERT_HOURS_DEFAULT,
    };
    const program = { database, jobs: aggregatorJobs(log), needs, log: logger, metrics };
    return startJobs({ ...program, clock: systemClock });
  }

  /** Finishes the batches under way, gives all partitions up and leaves the list of members. */
  async close(): Promise<void> {
    this.#stop.abort();
    const stoppingJobs = this.#stopJobs();
    await this.#sharing.startLeaving();
    this.#stopAllBut(new Set());
    // The heartbeat goes on, so that no other process takes a partition whose batch takes long.
    await Promise.all([...this.#owned.values()].map(({ ended }) => ended));
    await Promise.all([this.#sharing.close(), this.#loops, this.#measuring, stoppingJobs]);
    await this.#heart?.close();
  }

  /** Rejects when ClickHouse does not answer, or another server does. */
  assertOneServer(): Promise<void> {
    return this.#server.check();
  }

  /** Partitions that halted because the stores contradict each other, with the reason. */
  get halted(): ReadonlyMap<number, HaltReason> {
    return this.#halted.reasons;
  }

  /** Rejects when a partition has halted and waits for an operator. */
  assertNoneHalted(): Promise<void> {
    const stopped = [...this.halted].map(([partition, reason]) => `${partition}: ${reason}`);
    if (stopped.length === 0) return Promise.resolve();
    return Promise.reject(new Error(`halted partitions (${stopped.join(', ')})`));
  }

  #assign(partitions: ReadonlySet<number>): void {
    this.#stopAllBut(partitions);
    if (this.#stop.signal.aborted) return;
    for (const partition of partitions) if (!this.#owned.has(partition)) this.#take(partition);
  }

  /** Does not wait for their ends: a batch that hangs must not stop the heartbeat. */
  #stopAllBut(partitions: ReadonlySet<number>): void {
    for (const [partition, { stop }] of this.#owned) if (!partitions.has(partition)) stop.abort();
  }

  #take(partition: number): void {
    const { clickhouse, log } = this.dependencies;
    const stop = new AbortController();
    const writer = new UsageWriter(clickhouse, log.identity.logId, partition);
    const filter = this.#filters.take(partition);
    const { signal } = stop;
    const member = this.#flushes.memberOf(partition, signal);
    const ended = this.#own({ partition, writer, filter, member, signal })
      .catch((error: unknown) => {
        this.#fail(error);
      })
      .finally(() => {
        this.#owned.delete(partition);
        // Its next owner shows it, and alerts add up the lags of all processes.
        this.dependencies.metrics.partitionLag.remove({ partition: String(partition) });
      });
    this.#owned.set(partition, { stop, ended, filter });
  }

  /**
   * Runs a partition until it is given up, fenced or halted. It is run again if the row in
   * PostgreSQL still names this process as its owner: a halted one after a while.
   */
  async #own(
    own: Pick<PartitionRun, 'partition' | 'writer' | 'filter' | 'member' | 'signal'>,
  ): Promise<void> {
    const { partition, signal } = own;
    const { logger, metrics, log } = this.dependencies;
    const run = {
      ...this.dependencies,
      ...own,
      server: this.#server,
      checkpoints: this.#checkpoints,
      catalog: this.#catalog,
      lookUps: this.#lookUps,
      eventsMax: this.dependencies.limits.eventsMax,
      charactersMax: () => charactersOfPartition(this.#owned.size),
      onGoingOn: () => {
        this.#halted.forget(partition);
        this.#counting.stir();
      },
      onWarm: (how: Warming, seconds: number) => {
        metrics.filterWarmSeconds.observe({ how }, seconds);
        this.#halted.noteTaken(partition);
      },
    };
    metrics.partitionTakes.inc({ reason: 'assigned' });
    const end = await runPartition(run);
    metrics.partitionEpoch.set({ partition: String(partition) }, 0);
    if (typeof end === 'object') await this.#halted.wait(partition, end.halted, signal);
    else this.#filters.keep(partition, own.filter);
    if (end === 'lost') logger.info({ partition }, 'another process has taken the partition');
    if (signal.aborted) await this.#release(partition);
    await log.release(partition);
  }

  /** Removes this process as the owner, so that the next owner may begin. */
  async #release(partition: number): Promise<void> {
    try {
      await this.#membership.release(partition, !this.#stop.signal.aborted);
    } catch (error) {
      // PostgreSQL still names us as the owner, and the next beat releases the partition.
      this.dependencies.logger.warn(
        { partition, error: messageOf(error) },
        'could not release a partition; tried again within a second',
      );
    }
  }

  async #measure({ nextOffsets }: SharingView): Promise<void> {
    const { log, metrics, logger } = this.dependencies;
    const filters = [...this.#owned.values()].map(({ filter }) => filter.size);
    metrics.knownIds.set(
      filters.reduce((sum, size) => sum + size, this.#filters.previousLogIds.size),
    );
    try {
      const ends = await log.ends();
      // Meanwhile some may have been given up.
      for (const partition of this.#owned.keys()) {
        const end = assertPresent(ends[partition], 'the end of a partition');
        // Absent means that nothing of the partition is counted yet.
        const lag = Math.max(0, end - (nextOffsets[partition] ?? 0));
        metrics.partitionLag.set({ partition: String(partition) }, lag);
      }
    } catch (error) {
      logger.warn(
        { error: messageOf(error) },
        'the lag of the partitions could not be read from the log',
      );
    }
  }
}
