import { z } from 'zod';
import type { InstantMs } from '../../contract/instant.js';
import type { ClickHouse, QueryParameters } from '../../clickhouse/client.js';
import { endQueries } from '../../clickhouse/end-queries.js';
import { IS_TIED } from '../../clickhouse/server-facts.js';
import { assertPresent } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import {
  IS_MARKER_ROW,
  singleMarkerGroupOf,
  sourceOf,
  timesWritten,
} from '../fold/batch-marker.js';
import type { BatchRange } from '../fold/batch-tables.js';
import type { Checkpoint, Inspection, Presence } from '../protocol/state.js';
import { appendedFromMs, IN_MONTHS } from './appended-from.js';
import { queryMarkOf, queryPrefixOf } from './insert-batches.js';

const countRow = z.object({ found: integerColumn });
const presenceRow = z.object({
  events: integerColumn,
  ids: integerColumn,
  count: integerColumn,
  first: integerColumn.nullable(),
  end: integerColumn,
  single: integerColumn,
});
const OF_PARTITION = 'log_id = {log_id:String} AND log_partition = {log_partition:UInt32}';
const BEYOND = `${OF_PARTITION} AND ${IN_MONTHS} AND log_offset >= {beyond:UInt64}`;
const IN_RANGE = `${OF_PARTITION} AND ${IN_MONTHS}
  AND log_offset >= {start:UInt64} AND log_offset < {end:UInt64}`;
const IS_MARKER = `${IS_MARKER_ROW}
  AND source = {marker_source:String} AND group_key IN ('', {single_group:String})`;
const IS_MERGED_MARKER = `${IS_MARKER_ROW}
  AND source = {marker_source:String} AND group_key = ''`;

const IS_OF_PARTITION = `startsWith(query_id, {prefix:String})
  AND position(query_id, {mark:String}) > 0`;

/**
 * What the owner of one partition asks ClickHouse, and how it fences others. Every method throws a
 * DependencyError when the server fails. Whether an insert took effect is then unknown.
 */
export class UsageWriter {
  readonly #ofPartition;
  readonly #markers;

  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly logId: string,
    private readonly partition: number,
  ) {
    this.#ofPartition = { log_id: logId, log_partition: partition };
    this.#markers = { marker_source: sourceOf({ logId, partition }) };
  }

  /** Rows that one insert can write as one block. */
  get insertRowsMax(): number {
    return this.clickhouse.blockRowsMax;
  }

  /** The epoch of the gate; 0 for a partition that was never taken. */
  gate(): Promise<number> {
    const select = `SELECT max(epoch) AS found FROM ingest_gate_v1 WHERE ${OF_PARTITION}`;
    return this.#count(select, this.#ofPartition);
  }

  /** Raises the gate and returns its epoch, which is higher when another owner was faster. */
  async raiseGate(epoch: number): Promise<number> {
    await this.clickhouse.command(
      `INSERT INTO ingest_gate_v1 (log_id, log_partition, epoch)
       SELECT {log_id:String}, {log_partition:UInt32}, {epoch:UInt64} WHERE ${IS_TIED}`,
      { ...this.#ofPartition, epoch },
    );
    return this.gate();
  }

  /**
   * Ends every running insert with rows of this partition, whatever else it holds; the gate refuses
   * those that start later.
   */
  async drain(): Promise<void> {
    const { logId, partition } = this;
    const parameters = { prefix: queryPrefixOf(logId), mark: queryMarkOf(partition) };
    await endQueries(this.clickhouse, { condition: IS_OF_PARTITION, parameters });
  }

  /** Up to where usage is written; 0 for nowhere. */
  markerEnd(): Promise<number> {
    const select = `SELECT toInt64(ifNull(max(value_max), 0)) AS found FROM usage_minute_v1
      WHERE ${IS_MERGED_MARKER}`;
    return this.#count(select, this.#markers);
  }

  /** ClickHouse's part of the inspection at take. */
  async inspect(checkpoint: Checkpoint): Promise<Pick<Inspection, 'rowsBeyond' | 'lastBatch'>> {
    const beyond = checkpoint.intent?.end ?? checkpoint.nextOffset;
    const { lastBatch, nextOffset: end } = checkpoint;
    const appendedAtMs = lastBatch?.appendedAtMs ?? null;
    const select = `SELECT (SELECT count() FROM events_v1 WHERE ${BEYOND}) +
      (SELECT count() FROM event_ids_v1 WHERE ${BEYOND}) +
      (SELECT count() FROM usage_minute_v1
        WHERE ${IS_MERGED_MARKER} AND value_max > {beyond:UInt64}) AS found`;
    const months = { appended_from: appendedFromMs(appendedAtMs) };
    const of = { ...this.#ofPartition, ...this.#markers, ...months };
    const rowsBeyond = await this.#count(select, { ...of, beyond });
    if (lastBatch === null) return { rowsBeyond, lastBatch: null };
    const { logId, partition } = this;
    const range = { logId, partition, start: lastBatch.start, end };
    const found = await this.presence(range, appendedAtMs);
    return { rowsBeyond, lastBatch: found };
  }

  /**
   * How many rows of a batch are in the tables. When the log appended it is a matter of its
   * records; null when these are not known any more: then every month is asked.
   */
  async presence(range: BatchRange, appendedAtMs: InstantMs | null): Promise<Presence> {
    const select = `SELECT
      (SELECT count() FROM events_v1 WHERE ${IN_RANGE}) AS events,
      (SELECT count() FROM event_ids_v1 WHERE ${IN_RANGE}) AS ids,
      sumIf(event_count, group_key = '') AS count, toInt64(min(value_min)) AS first,
      toInt64(max(value_max)) AS end, sumIf(event_count, group_key != '') AS single
      FROM usage_minute_v1 WHERE ${IS_MARKER}`;
    const parameters = {
      ...this.#ofPartition,
      ...this.#markers,
      appended_from: appendedFromMs(appendedAtMs),
      start: range.start,
      end: range.end,
      single_group: singleMarkerGroupOf(range),
    };
    const [row] = await this.clickhouse.query(select, parameters, presenceRow);
    const { events, ids, first, ...written } = assertPresent(row, 'the row of aggregates');
    return { events, ids, marker: timesWritten({ ...written, first: first ?? 0 }, range) };
  }

  async #count(select: string, parameters: QueryParameters): Promise<number> {
    const [row] = await this.clickhouse.query(select, parameters, countRow);
    return assertPresent(row, 'the row of a SELECT of one aggregate').found;
  }
}
