import { sql } from 'slonik';
import { z } from 'zod';
import { instantColumn } from '../../sql/columns.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import type { Caller } from './caller.js';
import { textKeyed } from './columns.js';
import type { Transaction } from './unit.js';

export const recordStatus = z.enum(['published', 'deleted', 'archived']);

const metadataColumn = textKeyed(z.union([z.string(), z.number(), z.boolean()]));

/** Columns that every record has (specification, Conventions). */
export const recordColumns = {
  id: z.string(),
  tenant_id: z.string(),
  environment_id: z.string(),
  status: recordStatus,
  metadata: metadataColumn,
  created_at: instantColumn,
  created_by: z.string().nullable(),
  updated_at: instantColumn,
  updated_by: z.string().nullable(),
};
type RecordRow = {
  readonly [Column in keyof typeof recordColumns]: z.output<(typeof recordColumns)[Column]>;
};

/** Values of a new row by column; instants as text, decimals as text, JSON as objects. */
export type NewRow = Readonly<Record<string, unknown>>;

/** The common columns of a record that the caller creates now. */
export function newRecordColumns(caller: Caller, id: string, now: InstantMs): NewRow {
  return {
    id,
    tenant_id: caller.environment.tenantId,
    environment_id: caller.environment.environmentId,
    status: 'published',
    created_at: formatInstant(now),
    created_by: caller.userId,
    updated_at: formatInstant(now),
    updated_by: caller.userId,
  };
}

/** An instant as a column value; null stays null. */
export function instantValue(instant: InstantMs | null): string | null {
  return instant === null ? null : formatInstant(instant);
}

/**
 * Inserts rows of one table in one statement and returns those that were inserted; a row that
 * breaks a unique index is left out, and nothing else is. All rows name the same columns; the
 * others get their DEFAULT.
 */
export async function insertRows<Schema extends z.ZodTypeAny>(
  transaction: Transaction,
  table: { readonly name: string; readonly row: Schema },
  rows: readonly NewRow[],
): Promise<readonly z.output<Schema>[]> {
  if (rows.length === 0) return [];
  const name = sql.identifier([table.name]);
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const columns = sql.join(
    names.map((column) => sql.identifier([column])),
    sql.fragment`, `,
  );
  return transaction.any(sql.type(table.row)`
    INSERT INTO ${name} (${columns})
    SELECT ${columns} FROM jsonb_populate_recordset(NULL::${name}, ${JSON.stringify(rows)}::jsonb)
    ON CONFLICT DO NOTHING
    RETURNING *`);
}
