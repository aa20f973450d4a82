import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { ClickHouse, InsertOutcome, QueryParameters } from '../../clickhouse/client.js';
import { assertPresent, DependencyError } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import type { BatchRange } from '../fold/batch-tables.js';
import { markerOf } from '../fold/encode-rows.js';
import type { StoredId } from '../fold/separate-duplicates.js';
import type { Checkpoint, Inspection, Presence } from '../protocol/state.js';

const DRAIN_ATTEMPTS = 50;
const DRAIN_PAUSE_MS = 100;
/** Keeps the text of a look-up below the server's 256 KiB for a query. */
const LOOK_UP_IDS_MAX = 6_000;

const countRow = z.object({ found: integerColumn });
const presenceRow = z.object({ events: integerColumn, ids: integerColumn, marker: integerColumn });
const idRow = z.object({
  hash: z.string(),
  payload: z.string(),
  timestamp_ms: integerColumn,
  is_timestamp_given: z.boolean(),
});

const OF_PARTITION = 'log_id = {log_id:String} AND log_partition = {log_partition:UInt32}';
const IN_RANGE = `${OF_PARTITION} AND log_offset >= {start:UInt64} AND log_offset < {end:UInt64}`;
/** The whole sorting key is given, so the marker is found without a scan. */
const IS_MARKER = `tenant_id = '' AND environment_id = '' AND customer_key = ''
  AND meter_id = '#batch' AND generation = 0 AND minute = toDateTime64(0, 0, 'UTC')
  AND source = {marker_source:String} AND group_key = {marker_group:String}`;

const KILL_INSERTS = 'KILL QUERY WHERE startsWith(query_id, {prefix:String}) SYNC';
const RUNNING_INSERTS = `SELECT count() AS found FROM system.processes
  WHERE startsWith(query_id, {prefix:String})`;

/**
 * What the owner of one partition does in ClickHouse. Every method throws a DependencyError when
 * the server fails; for an insert that leaves open whether it took effect.
 */
export class UsageStore {
  readonly #ofPartition;
  readonly #queryPrefix: string;

  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly logId: string,
    private readonly partition: number,
  ) {
    this.#ofPartition = { log_id: logId, log_partition: partition };
    this.#queryPrefix = `mb:${logId}:${partition}:`;
  }

  /** Highest epoch the gate has seen; 0 for a partition that was never taken. */
  gate(): Promise<number> {
    const select = `SELECT max(epoch) AS found FROM ingest_gate_v1 WHERE ${OF_PARTITION}`;
    return this.#count(select, this.#ofPartition);
  }

  /** Raises the gate; returns the highest epoch it then shows: another's when one was faster. */
  async raiseGate(epoch: number): Promise<number> {
    await this.clickhouse.command(
      `INSERT INTO ingest_gate_v1 (log_id, log_partition, epoch)
       VALUES ({log_id:String}, {log_partition:UInt32}, {epoch:UInt64})`,
      { ...this.#ofPartition, epoch },
    );
    return this.gate();
  }

  /** Ends every insert of this partition that runs; those that have not started are gated. */
  async drain(): Promise<void> {
    const parameters = { prefix: this.#queryPrefix };
    for (let attempt = 0; attempt < DRAIN_ATTEMPTS; attempt += 1) {
      await this.clickhouse.command(KILL_INSERTS, parameters);
      if ((await this.#count(RUNNING_INSERTS, parameters)) === 0) return;
      await delay(DRAIN_PAUSE_MS);
    }
    throw new DependencyError('inserts of an earlier owner do not end', {
      dependency: 'clickhouse',
      isRetryable: true,
    });
  }

  /** What the sanity check at take needs of ClickHouse. */
  async inspect(checkpoint: Checkpoint): Promise<Pick<Inspection, 'rowsBeyond' | 'lastBatch'>> {
    const beyond = checkpoint.pending?.end ?? checkpoint.nextOffset;
    const select = `SELECT
      (SELECT count() FROM events_v1 WHERE ${OF_PARTITION} AND log_offset >= {beyond:UInt64}) +
      (SELECT count() FROM event_ids_v1 WHERE ${OF_PARTITION} AND log_offset >= {beyond:UInt64})
      AS found`;
    const rowsBeyond = await this.#count(select, { ...this.#ofPartition, beyond });
    const { lastBatch, nextOffset: end } = checkpoint;
    if (lastBatch === null) return { rowsBeyond, lastBatch: null };
    const { logId, partition } = this;
    const found = await this.presence({ logId, partition, start: lastBatch.start, end });
    return { rowsBeyond, lastBatch: found };
  }

  /** Rows of a batch that are there: asked of the tables, not of any token. */
  async presence(range: BatchRange): Promise<Presence> {
    const marker = markerOf(range);
    const select = `SELECT
      (SELECT count() FROM events_v1 WHERE ${IN_RANGE}) AS events,
      (SELECT count() FROM event_ids_v1 WHERE ${IN_RANGE}) AS ids,
      (SELECT sum(event_count) FROM usage_minute_v1 WHERE ${IS_MARKER}) AS marker`;
    const parameters = {
      ...this.#ofPartition,
      start: range.start,
      end: range.end,
      marker_source: marker.source,
      marker_group: marker.groupKey,
    };
    const [row] = await this.clickhouse.query(select, parameters, presenceRow);
    return assertPresent(row, 'the row of a SELECT without FROM');
  }

  /** Which of the ids were counted at offsets below `below`, exactly. */
  async lookUp(idHashes: readonly string[], below: number): Promise<ReadonlyMap<string, StoredId>> {
    const seen = new Map<string, StoredId>();
    for (let start = 0; start < idHashes.length; start += LOOK_UP_IDS_MAX) {
      const rows = await this.#lookUpSome(idHashes.slice(start, start + LOOK_UP_IDS_MAX), below);
      for (const row of rows) {
        seen.set(row.hash, {
          payloadHash: row.payload,
          timestampMs: row.timestamp_ms,
          isTimestampGiven: row.is_timestamp_given,
        });
      }
    }
    return seen;
  }

  /**
   * Sends one gated insert (insert-statements.ts). It is never sent twice under one epoch: unknown
   * means a new take.
   */
  insert(epoch: number, query: string, body: string): Promise<InsertOutcome> {
    const { logId, partition } = this;
    return this.clickhouse.insertText({
      query,
      parameters: { gate_log_id: logId, gate_partition: partition, gate_epoch: epoch },
      body,
      queryId: `${this.#queryPrefix}${epoch}:${randomUUID()}`,
    });
  }

  async #count(select: string, parameters: QueryParameters): Promise<number> {
    const [row] = await this.clickhouse.query(select, parameters, countRow);
    return assertPresent(row, 'the row of a SELECT of one aggregate').found;
  }

  /**
   * Ids of this partition, and those counted on any log before this one, since an id counts once
   * for ever and not once a log.
   */
  #lookUpSome(idHashes: readonly string[], below: number): Promise<z.output<typeof idRow>[]> {
    // The hashes are hexadecimal digits of our own making, so they can stand in the text.
    const select = `SELECT lower(hex(id_hash)) AS hash, lower(hex(payload_hash)) AS payload,
        toString(toUnixTimestamp64Milli(timestamp)) AS timestamp_ms, is_timestamp_given
      FROM event_ids_v1
      WHERE ((${OF_PARTITION} AND log_offset < {below:UInt64}) OR log_id != {log_id:String})
        AND id_hash IN (
        SELECT toFixedString(unhex(arrayJoin(splitByChar(',', '${idHashes.join(',')}'))), 16))`;
    return this.clickhouse.query(select, { ...this.#ofPartition, below }, idRow);
  }
}
