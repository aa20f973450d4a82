import { sql } from 'slonik';
import { z } from 'zod';
import { mustGet, zip } from '../../../runtime/failure.js';
import { instantColumn } from '../../../sql/columns.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { StatementUnit } from '../../records/unit.js';
import { withLine, type StoredParts } from './document-parts.js';

const digestRow = z.object({ invoice_id: z.string(), result_sha256: z.string() });
const partRow = z.object({
  id: z.string(),
  invoice_id: z.string(),
  part: z.enum(['line', 'coupon', 'tax']),
  position: z.number().int(),
  created_at: instantColumn,
  created_by: z.string().nullable(),
  applied_at: instantColumn.nullable(),
});
type PartRow = z.output<typeof partRow>;

/** The digests of what stored invoices computed to last. */
export async function findDigests(
  { tx }: StatementUnit,
  invoiceIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await tx.any(sql.type(digestRow)`
    SELECT invoice_id, result_sha256 FROM invoice_computations
    WHERE invoice_id = ANY (${sql.array([...invoiceIds], 'text')}) AND ${isOfEnvironment}`);
  return new Map(rows.map((row) => [row.invoice_id, row.result_sha256]));
}

const nameOf = (invoiceId: string, part: string, position: number): string =>
  `${invoiceId} ${part} ${position}`;

/** Which records the parts of these invoices are. One statement. */
async function findPartRows(
  { tx }: StatementUnit,
  invoiceIds: readonly string[],
): Promise<ReadonlyMap<string, PartRow>> {
  const ids = sql.array([...invoiceIds], 'text');
  const rows = await tx.any(sql.type(partRow)`
    SELECT id, invoice_id, 'line' AS part, position, created_at, created_by,
      NULL::timestamptz AS applied_at
    FROM invoice_line_items WHERE invoice_id = ANY (${ids}) AND ${isOfEnvironment}
    UNION ALL SELECT id, invoice_id, 'coupon', position, created_at, created_by, applied_at
    FROM coupon_applications WHERE invoice_id = ANY (${ids}) AND ${isOfEnvironment}
    UNION ALL SELECT id, invoice_id, 'tax', position, created_at, created_by, applied_at
    FROM invoice_taxes WHERE invoice_id = ANY (${ids}) AND ${isOfEnvironment}`);
  return new Map(rows.map((row) => [nameOf(row.invoice_id, row.part, row.position), row]));
}

/**
 * Parts that computed to what is stored, as the records that they are: with their ids, and the
 * instants at which they were made and applied.
 */
export async function asKept(
  unit: StatementUnit,
  documents: ReadonlyMap<string, StoredParts>,
): Promise<ReadonlyMap<string, StoredParts>> {
  if (documents.size === 0) return documents;
  const rows = await findPartRows(unit, [...documents.keys()]);
  const kept = <Part extends { readonly position: number }>(
    invoiceId: string,
    kind: PartRow['part'],
    part: Part,
  ): Part => {
    const row = mustGet(rows, nameOf(invoiceId, kind, part.position), 'a stored part');
    const { id, created_at, created_by, applied_at } = row;
    const stamp = { id, created_at, created_by, updated_at: created_at, updated_by: created_by };
    return { ...part, ...stamp, ...(applied_at === null ? {} : { applied_at }) };
  };
  return new Map(
    [...documents].map(([id, { lines, coupons, taxes }]) => {
      const keptLines = lines.map((line) => kept(id, 'line', line));
      const idOf = new Map(
        zip(lines, keptLines).map(([line, { id: keptId }]) => [line.id, keptId]),
      );
      const parts = {
        lines: keptLines,
        coupons: coupons.map((coupon) => withLine(kept(id, 'coupon', coupon), idOf)),
        taxes: taxes.map((tax) => kept(id, 'tax', tax)),
      };
      return [id, parts];
    }),
  );
}
