import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { ClickHouse, InsertOutcome, QueryParameters } from '../../clickhouse/client.js';
import { DAY_MS } from '../../contract/instant.js';
import { sourceOf } from '../fold/batch-marker.js';
import { TABLES, type BatchTable } from '../fold/batch-tables.js';
import type { Batch } from '../protocol/state.js';
import { insertStatement } from './insert-statements.js';

/** A batch, and the epoch under which it is written. */
export type BatchToWrite<Of = Batch> = { readonly epoch: number; readonly batch: Of };
/** What an insert needs to know of a batch. */
type EncodedRange = Pick<Batch, 'range' | 'encoded'>;

/**
 * Bytes of the rows of one insert; a single batch may have more. Larger inserts cost the
 * server no less, and hold up the inserts beside them.
 */
const INSERT_BYTES_MAX = 64 * 1024 * 1024;

/** How the ids of all inserts of a log begin. */
export function queryPrefixOf(logId: string): string {
  return `mb:${logId}:`;
}

/** What the ids of all inserts of a partition contain. */
export function queryMarkOf(partition: number): string {
  return `,${partition}.`;
}

/** Names every partition with its epoch, so that the drain of any of them finds the insert. */
function queryIdOf(logId: string, batches: readonly BatchToWrite<EncodedRange>[]): string {
  const marks = batches.map(({ epoch, batch }) => `${queryMarkOf(batch.range.partition)}${epoch}`);
  return `${queryPrefixOf(logId)}${marks.join('')},:${randomUUID()}`;
}

const FIRST_ROW_OF: Readonly<Partial<Record<BatchTable, readonly string[]>>> = {
  events: [
    'appended_at',
    'tenant_id',
    'environment_id',
    'event_name',
    'customer_key',
    'timestamp',
    'log_id',
    'log_partition',
    'log_offset',
    'record_index',
  ],
  ids: ['appended_at', 'log_id', 'log_partition', 'id_hash', 'log_offset'],
};

const encodedRow = z.array(z.unknown());
const parameterValue = z.union([z.string(), z.number()]);

/** By these the statement finds out whether the same insert was applied before. */
function firstRow(table: BatchTable, { encoded }: EncodedRange): QueryParameters {
  const names = FIRST_ROW_OF[table] ?? [];
  if (names.length === 0) return {};
  const { bytes } = encoded[table];
  const line = bytes.subarray(0, bytes.indexOf('\n')).toString();
  const row = encodedRow.parse(JSON.parse(line));
  const { columns } = TABLES[table];
  return Object.fromEntries(
    names.map((wanted) => {
      const index = columns.findIndex(({ name }) => name === wanted);
      return [`first_${wanted}`, parameterValue.parse(row[index])];
    }),
  );
}

/** How much one insert may hold. */
export type InsertBounds = { readonly rowsMax: number; readonly bytesMax?: number };

type PlannedInsert = {
  readonly batches: BatchToWrite[];
  readonly appendDay: number;
  rows: number;
  size: number;
};

/**
 * Divides batches among inserts of a table, each of which is one block in one partition of the
 * table: of records of one day, and with no more rows than a block has.
 */
export function divideBatches(
  batches: readonly BatchToWrite[],
  table: BatchTable,
  { rowsMax, bytesMax = INSERT_BYTES_MAX }: InsertBounds,
): readonly (readonly BatchToWrite[])[] {
  const inserts: PlannedInsert[] = [];
  for (const toWrite of batches) {
    const { appendedAtMs, encoded } = toWrite.batch;
    const appendDay = Math.floor(appendedAtMs / DAY_MS);
    const { rows, bytes } = encoded[table];
    const fits = (insert: PlannedInsert): boolean =>
      insert.appendDay === appendDay &&
      insert.rows + rows <= rowsMax &&
      insert.size + bytes.length <= bytesMax;
    const insert = inserts.find(fits) ?? { batches: [], appendDay, rows: 0, size: 0 };
    if (insert.batches.length === 0) inserts.push(insert);
    insert.batches.push(toWrite);
    insert.rows += rows;
    insert.size += bytes.length;
  }
  return inserts.map((insert) => insert.batches);
}

/**
 * Sends one insert with the rows of these batches, of different partitions, all of which are
 * written or none. Its gate is the epoch of every one of them. It is never sent twice under the
 * same epochs: after an unknown outcome the partitions are taken again. Should something between
 * repeat the request all the same, the statement refuses it. Without rows nothing is sent.
 * @throws DependencyError when the outcome is unknown.
 */
export function insertBatches(
  clickhouse: ClickHouse,
  table: BatchTable,
  batches: readonly BatchToWrite<EncodedRange>[],
): Promise<InsertOutcome> {
  const first = batches.find(({ batch }) => batch.encoded[table].rows > 0);
  if (first === undefined) return Promise.resolve({ outcome: 'inserted' });
  const { logId } = first.batch.range;
  return clickhouse.insertText({
    query: insertStatement(table),
    parameters: {
      gate_log_id: logId,
      gate_partitions: batches.map(({ batch }) => batch.range.partition),
      gate_epochs: batches.map(({ epoch }) => epoch),
      gate_sources: batches.map(({ batch }) => sourceOf(batch.range)),
      gate_starts: batches.map(({ batch }) => batch.range.start),
      ...firstRow(table, first.batch),
    },
    body: batches.map(({ batch }) => batch.encoded[table].bytes),
    queryId: queryIdOf(logId, batches),
  });
}
