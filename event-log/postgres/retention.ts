import type pg from 'pg';
import { queryLog } from './connection.js';

/** How long finished records are kept, and how often older ones are removed. */
export type RetentionOptions = {
  readonly retentionMs: number;
  readonly intervalMs: number;
  readonly onFailure: (error: unknown) => void;
};

/** Batches removed by one statement. It takes about 10 ms; appends wait for the last part of it. */
const CHUNK_BATCHES = 500;
/** The most chunks of one partition in a round, so that the other partitions get their turn. */
const CHUNKS_MAX = 100;

/**
 * Removes finished records that are older than the retention, in chunks, once per interval. It runs
 * in the process that reads the log, because that process knows what is finished.
 */
export class Retention {
  readonly #finished = new Map<number, number>();
  readonly #timer: NodeJS.Timeout;
  #round: Promise<void> | null = null;
  #isClosed = false;

  constructor(
    private readonly pool: pg.Pool,
    private readonly options: RetentionOptions,
  ) {
    this.#timer = setInterval(() => {
      this.#round ??= this.#trimAll().finally(() => {
        this.#round = null;
      });
    }, options.intervalMs).unref();
  }

  /** Notes that all records of the partition below the offset are finished. */
  finish(partition: number, nextOffset: number): void {
    this.#finished.set(partition, nextOffset);
  }

  /** Waits for a chunk that is being removed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#round;
  }

  async #trimAll(): Promise<void> {
    try {
      for (const [partition, nextOffset] of this.#finished) {
        await this.#trim(partition, nextOffset);
      }
    } catch (error) {
      this.options.onFailure(error);
    }
  }

  async #trim(partition: number, nextOffset: number): Promise<void> {
    for (let chunk = 0; chunk < CHUNKS_MAX && !this.#isClosed; chunk += 1) {
      const rows = await queryLog<{ readonly removed: number }>(this.pool, {
        name: 'trim',
        text: `SELECT trim_event_log($1, $2, $3 * interval '1 millisecond', $4) AS removed`,
        values: [partition, nextOffset, this.options.retentionMs, CHUNK_BATCHES],
      });
      if ((rows[0]?.removed ?? 0) < CHUNK_BATCHES) return;
    }
  }
}
