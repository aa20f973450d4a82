import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { IdFilterCache } from '../../aggregator/dedup/id-filter-cache.js';
import type { IdFilter } from '../../aggregator/dedup/id-filter.js';
import { INSERT_STAGES } from '../../aggregator/fold/batch-tables.js';
import type { EncodedBatch } from '../../aggregator/fold/encode-rows.js';
import { insertBatches } from '../../aggregator/write/insert-batches.js';
import { IdLookUps } from '../../aggregator/write/id-look-ups.js';
import { UsageWriter } from '../../aggregator/write/usage-writer.js';
import type { ClickHouse } from '../../clickhouse/client.js';
import { integerColumn } from '../../sql/columns.js';

export const LOG_ID = 'log';
const PARTITION = 0;
const LIVING = new AbortController().signal;
const INSERT_ROWS_MAX = 1_000_000;
const MERGE_POLL_MS = 500;

export type StoredIds = {
  readonly ids: number;
  readonly months: number;
  readonly partitions: number;
  /** Of the first month. Ids lie in the first 28 days of a month, so that months stay apart. */
  readonly startMs: number;
};

const countRow = z.object({ found: integerColumn });

async function count(clickhouse: ClickHouse, select: string): Promise<number> {
  return (await clickhouse.query(select, {}, countRow))[0]?.found ?? 0;
}

/** Start of a month of append. */
export function monthMs({ startMs }: Pick<StoredIds, 'startMs'>, month: number): number {
  const start = new Date(startMs);
  return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + month);
}

/** Fills one month: ids of every partition, at offsets above those of the month before. */
async function fillMonth(clickhouse: ClickHouse, plan: StoredIds, month: number): Promise<void> {
  const perMonth = Math.ceil(plan.ids / plan.months);
  const stepMs = Math.floor((28 * 86_400_000) / perMonth);
  for (let from = 0; from < perMonth; from += INSERT_ROWS_MAX) {
    const parameters = {
      log_id: LOG_ID,
      partitions: plan.partitions,
      first: month * perMonth + from,
      appended: monthMs(plan, month) + from * stepMs,
      step: stepMs,
      rows: Math.min(INSERT_ROWS_MAX, perMonth - from),
    };
    await clickhouse.command(
      `INSERT INTO event_ids_v1 SELECT {log_id:String}, number % {partitions:UInt32},
         randomFixedString(16), intDiv(({first:UInt64} + number), {partitions:UInt32}), 0,
         randomFixedString(8), at, true, at
       FROM (SELECT number,
         fromUnixTimestamp64Milli({appended:Int64} + toInt64(number * {step:UInt64}), 'UTC') AS at
         FROM numbers({rows:UInt64}))`,
      parameters,
    );
    if (month < plan.months - 1) continue;
    await clickhouse.command(
      `INSERT INTO events_v1 (tenant_id, environment_id, event_name, customer_key, timestamp,
         event_id, properties, received_at, log_id, log_partition, log_offset, appended_at)
       SELECT 't', 'e', concat('name-', toString(number % 3)),
         concat('e:customer-', toString(cityHash64(number) % 10000)), at, hex(rand64()), map(), at,
         {log_id:String}, number % {partitions:UInt32},
         intDiv(({first:UInt64} + number), {partitions:UInt32}), at
       FROM (SELECT number,
         fromUnixTimestamp64Milli({appended:Int64} + toInt64(number * {step:UInt64}), 'UTC') AS at
         FROM numbers({rows:UInt64}))`,
      parameters,
    );
  }
}

/** Stores the ids, and the events of the last month, and waits until the table has merged them. */
export async function fillStore(
  clickhouse: ClickHouse,
  plan: StoredIds,
  onMonth: (month: number) => void,
): Promise<void> {
  for (let month = 0; month < plan.months; month += 1) {
    await fillMonth(clickhouse, plan, month);
    onMonth(month);
  }
  // What the table does by itself with a month that is over, after a day.
  for (let month = 0; month < plan.months - 1; month += 1) {
    const day = new Date(monthMs(plan, month)).toISOString();
    const partition = `${day.slice(0, 4)}${day.slice(5, 7)}`;
    await clickhouse.command(`OPTIMIZE TABLE event_ids_v1 PARTITION ${partition} FINAL`);
  }
  const merging = `SELECT count() AS found FROM system.merges WHERE database = currentDatabase()`;
  while ((await count(clickhouse, merging)) > 0) await delay(MERGE_POLL_MS);
}

/** Ids of partition 0, as hexadecimal digits, of any time from this one on. */
export async function someStoredIds(
  clickhouse: ClickHouse,
  { wanted, fromMs }: { readonly wanted: number; readonly fromMs: number },
): Promise<string[]> {
  const rows = await clickhouse.query(
    `SELECT lower(hex(id_hash)) AS hash FROM event_ids_v1 WHERE log_partition = 0
       AND appended_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')
     ORDER BY cityHash64(id_hash) LIMIT {wanted:UInt64}`,
    { wanted, fromMs },
    z.object({ hash: z.string() }),
  );
  return rows.map(({ hash }) => hash);
}

export type StoreFacts = { readonly parts: number; readonly bytes: number };

export async function factsOf(clickhouse: ClickHouse): Promise<StoreFacts> {
  const of = `FROM system.parts WHERE database = currentDatabase() AND active
    AND table = 'event_ids_v1'`;
  return {
    parts: await count(clickhouse, `SELECT count() AS found ${of}`),
    bytes: await count(clickhouse, `SELECT sum(bytes_on_disk) AS found ${of}`),
  };
}

/** A batch that is ready to be written, with the ids of its events. */
export type PreparedBatch = {
  readonly ids: readonly string[];
  readonly encoded: EncodedBatch;
  readonly start: number;
  readonly end: number;
  readonly rows: number;
  readonly appendedAtMs: number;
};

export type BatchTimes = {
  readonly lookUpMs: number;
  readonly insertMs: number;
  readonly lookedUp: number;
};

/** One partition of a store, worked on as its owner does. */
export class OwnedStore {
  #epoch = 0;
  readonly #writer;
  readonly #lookUps;
  readonly #filter: IdFilter;

  constructor(
    private readonly clickhouse: ClickHouse,
    falsePositiveRate: number,
  ) {
    this.#writer = new UsageWriter(clickhouse, LOG_ID, PARTITION);
    this.#lookUps = new IdLookUps(clickhouse, LOG_ID);
    const cache = new IdFilterCache({
      ...{ clickhouse, falsePositiveRate, identity: { logId: LOG_ID, partitionCount: 1 } },
      previousLogs: () => Promise.resolve([]),
    });
    this.#filter = cache.take(PARTITION);
  }

  get filterBytes(): number {
    return this.#filter.bytes;
  }

  /** From gate to filter, as after an outcome that is not known. Milliseconds. */
  async take(nextOffset: number, last: PreparedBatch | null): Promise<number> {
    const startedAtMs = performance.now();
    this.#epoch = (await this.#writer.gate()) + 1;
    await this.#writer.raiseGate(this.#epoch);
    await this.#writer.drain();
    const found = await this.#writer.inspect({
      ...{ epoch: this.#epoch, nextOffset, intent: null, minVersion: 1, catalogVersion: 1 },
      lastBatch: last && {
        start: last.start,
        rows: last.rows,
        erased: 0,
        appendedAtMs: last.appendedAtMs,
      },
    });
    await this.#filter.warm(nextOffset, LIVING);
    const ms = performance.now() - startedAtMs;
    const { rowsBeyond, lastBatch } = found;
    const isThere = lastBatch === null || lastBatch.ids === last?.rows;
    if (rowsBeyond > 0 || !isThere) throw new Error(`wrong counts: ${JSON.stringify(found)}`);
    return ms;
  }

  async write(batch: PreparedBatch, known: number): Promise<BatchTimes> {
    const startedAtMs = performance.now();
    const perhaps = this.#filter.perhapsKnown(batch.ids);
    const { start: below, appendedAtMs } = batch;
    const question = { partition: PARTITION, idHashes: perhaps, below, appendedAtMs };
    const seen = await this.#lookUps.find(question);
    const lookUpMs = performance.now() - startedAtMs;
    if (seen.size !== known) throw new Error(`${seen.size} known ids instead of ${known}`);
    const { start, end, encoded } = batch;
    const range = { logId: LOG_ID, partition: PARTITION, start, end };
    const toWrite = [{ epoch: this.#epoch, batch: { range, encoded } }];
    for (const stage of INSERT_STAGES) {
      const tables = stage.filter((table) => encoded[table].rows > 0);
      await Promise.all(tables.map((table) => insertBatches(this.clickhouse, table, toWrite)));
    }
    const insertMs = performance.now() - startedAtMs - lookUpMs;
    this.#filter.remember(batch.ids, batch.end, LIVING);
    return { lookUpMs, insertMs, lookedUp: perhaps.length };
  }
}
