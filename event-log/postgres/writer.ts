import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import {
  assertAppendable,
  type AppendRequest,
  type EventLogWriter,
  type LogIdentity,
} from '../interface/event-log.js';
import { groupBy } from '../../runtime/group-by.js';
import { GroupCommit } from '../interface/group-commit.js';
import { encodeBatch } from './batch-text.js';
import { createLogPool, logFailureOf, queryLog } from './connection.js';
import { openPostgresLog } from './identity.js';

/** How the log is opened for writing. */
export type PostgresWriterOptions = {
  readonly url: string;
  /** For creating the log. For an existing log it must be its number of partitions, or absent. */
  readonly partitionCount?: number | undefined;
  /** How long one append may take. */
  readonly produceTimeoutMs: number;
};

/** A megabyte takes about 10 ms to store, so the commit of a group stays well below a second. */
const GROUP_BYTES_MAX = 8 * 1024 * 1024;
const GROUP_RECORDS_MAX = 10_000;
/** What ingest may hold in memory while the log is slow. Beyond it, ingest answers 503. */
const QUEUE_BYTES_MAX = 64 * 1024 * 1024;
const QUEUE_RECORDS_MAX = 100_000;
/** One connection for appends, one for `ping`. */
const CONNECTIONS_MAX = 2;
const RECONNECT_DELAY_MS = 100;

type Batch = {
  readonly partition: number;
  readonly count: number;
  readonly lengths: string;
  readonly payload: string;
};

/** One batch per partition, in the order of partitions, in which the server locks them. */
function batchesOf(records: readonly AppendRequest[]): readonly Batch[] {
  return [...groupBy(records, (record) => record.partition)]
    .sort(([left], [right]) => left - right)
    .map(([partition, batch]) => ({ partition, count: batch.length, ...encodeBatch(batch) }));
}

/** Payloads are separate parameters, so they need no escaping as elements of an array. */
function appendStatement(logId: string, batches: readonly Batch[]): pg.QueryConfig {
  const payloads = batches.map((_batch, index) => `$${index + 5}`).join(', ');
  return {
    name: `append-${batches.length}`,
    text: `SELECT append_event_log($1, $2, $3, $4, ARRAY[${payloads}]::text[])`,
    values: [
      logId,
      batches.map(({ partition }) => partition),
      batches.map(({ count }) => count),
      batches.map(({ lengths }) => lengths),
      ...batches.map(({ payload }) => payload),
    ],
  };
}

class PostgresLogWriter implements EventLogWriter {
  readonly #group: GroupCommit;

  constructor(
    readonly identity: LogIdentity,
    private readonly pool: pg.Pool,
    private readonly produceTimeoutMs: number,
  ) {
    this.#group = new GroupCommit((records) => this.#commit(records), {
      groupRecordsMax: GROUP_RECORDS_MAX,
      groupBytesMax: GROUP_BYTES_MAX,
      queueRecordsMax: QUEUE_RECORDS_MAX,
      queueBytesMax: QUEUE_BYTES_MAX,
      appendTimeoutMs: produceTimeoutMs,
    });
  }

  append(records: readonly AppendRequest[]): Promise<void> {
    for (const record of records) assertAppendable(record, this.identity);
    return this.#group.append(records);
  }

  async ping(): Promise<void> {
    await queryLog(this.pool, { name: 'ping', text: 'SELECT 1', values: [] });
  }

  async close(): Promise<void> {
    await this.#group.close();
    await this.pool.end();
  }

  /** A statement that was sent is never sent again, since its records may be in the log already. */
  async #commit(records: readonly AppendRequest[]): Promise<void> {
    const statement = appendStatement(this.identity.logId, batchesOf(records));
    const client = await this.#connect();
    try {
      await client.query(statement);
      client.release();
    } catch (error) {
      client.release(true);
      throw logFailureOf(error);
    }
  }

  /** Waits for a server that restarts, which is safe because nothing was sent yet. */
  async #connect(): Promise<pg.PoolClient> {
    const deadlineMs = performance.now() + this.produceTimeoutMs;
    for (;;) {
      try {
        return await this.pool.connect();
      } catch (error) {
        const failure = logFailureOf(error);
        if (!failure.isRetryable || performance.now() + RECONNECT_DELAY_MS > deadlineMs) {
          throw failure;
        }
        await sleep(RECONNECT_DELAY_MS * (0.5 + Math.random()));
      }
    }
  }
}

/**
 * Opens the log in PostgreSQL for writing, and creates it when there is none.
 * @throws DependencyError when the server cannot be reached.
 * @throws ConfigError when the log has another number of partitions than `partitionCount`.
 */
export async function openPostgresWriter(options: PostgresWriterOptions): Promise<EventLogWriter> {
  const pool = createLogPool({
    url: options.url,
    connectionsMax: CONNECTIONS_MAX,
    statementTimeoutMs: options.produceTimeoutMs,
  });
  try {
    const identity = await openPostgresLog(pool, options.partitionCount);
    return new PostgresLogWriter(identity, pool, options.produceTimeoutMs);
  } catch (error) {
    await pool.end();
    throw error;
  }
}
