import { sql } from 'slonik';
import { z } from 'zod';
import {
  addAt,
  decimalOf,
  maxOf,
  plain,
  sumOf,
  ZERO,
  type Decimal,
} from '../../../contract/decimal.js';
import { numericColumn } from '../../../sql/columns.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { CreditNoteRow } from '../../declarations/money/credit-note.resource.js';
import { mustGet } from '../../../runtime/failure.js';
import { allocateByWeight } from '../../domain/money/allocate.js';
import { Money } from '../../domain/money/money.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import { invalid, Refusal } from '../../records/refusal.js';
import type { StatementUnit } from '../../records/unit.js';
import type { DocumentLine } from '../document/invoice-document.js';

export type NoteType = CreditNoteRow['credit_note_type'];

const REFUNDED = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED'];
const ADJUSTED = ['PENDING', 'PROCESSING', 'FAILED'];

/** What kind of note an invoice takes, by its payment status (docs/domain.md 19.1). */
export function noteTypeOf({ payment_status: status }: InvoiceRow): NoteType | Refusal {
  if (REFUNDED.includes(status)) return 'REFUND';
  if (ADJUSTED.includes(status)) return 'ADJUSTMENT';
  const problem = `the payment of the invoice is ${status}: it takes no credit note`;
  return new Refusal('invalid_operation', problem);
}

/** What notes that are not voided have taken of an invoice. */
export type NotedAmounts = {
  /** By line. */
  readonly ofLine: ReadonlyMap<string, Decimal>;
  /** Of drafts of each type, which have changed nothing yet. */
  readonly openRefunds: Decimal;
  readonly openAdjustments: Decimal;
};

const notedRow = z.object({
  invoice_line_item_id: z.string(),
  credit_note_type: z.enum(['ADJUSTMENT', 'REFUND']),
  is_open: z.boolean(),
  amount: numericColumn.transform(decimalOf),
});

/**
 * What notes have taken of a locked invoice so far. Drafts count against a new note, and not
 * against one that is finalized: of two drafts that cannot both be finalized the first one is.
 */
export async function findNotedAmounts(
  { tx }: StatementUnit,
  invoiceId: string,
  states: readonly CreditNoteRow['credit_note_status'][],
): Promise<NotedAmounts> {
  const rows = await tx.any(sql.type(notedRow)`
    SELECT line.invoice_line_item_id, note.credit_note_type,
      note.credit_note_status = 'DRAFT' AS is_open, sum(line.amount) AS amount
    FROM credit_notes AS note
    JOIN credit_note_lines AS line ON line.credit_note_id = note.id AND ${rowIsOfEnvironment('line')}
    WHERE note.invoice_id = ${invoiceId} AND note.credit_note_status = ANY (${sql.array([...states], 'text')})
      AND ${rowIsOfEnvironment('note')}
    GROUP BY line.invoice_line_item_id, note.credit_note_type, is_open`);
  const ofLine = new Map<string, Decimal>();
  for (const { invoice_line_item_id: id, amount } of rows) addAt(ofLine, id, amount);
  const openOf = (type: NoteType): Decimal =>
    sumOf(
      rows
        .filter((row) => row.is_open && row.credit_note_type === type)
        .map(({ amount }) => amount),
    );
  return { ofLine, openRefunds: openOf('REFUND'), openAdjustments: openOf('ADJUSTMENT') };
}

/** A line of a note as far as its limit goes. */
export type NotedLine = { readonly invoiceLineId: string; readonly amount: Decimal };

/**
 * What notes on each line may be at most: what it costs after its discounts, with its share of the
 * taxes (docs/domain.md 19.2). All lines together make up the invoice to the smallest unit.
 */
export function creditableOf(
  { currency, total_tax: tax }: Pick<InvoiceRow, 'currency' | 'total_tax'>,
  lines: readonly DocumentLine[],
): ReadonlyMap<DocumentLine, Decimal> {
  const netOf = (line: DocumentLine): Decimal =>
    maxOf(ZERO, line.amount.minus(line.line_item_discount).minus(line.invoice_level_discount));
  const hasNet = lines.some((line) => netOf(line).greaterThan(ZERO));
  if (!hasNet) return new Map(lines.map((line) => [line, ZERO]));
  const shares = new Map(allocateByWeight(new Money(tax, currency), lines, netOf));
  return new Map(
    lines.map((line) => [line, netOf(line).plus(mustGet(shares, line, 'a share of taxes').value)]),
  );
}

/** A note with what its limits depend on. */
type LimitedNote = {
  readonly type: NoteType;
  readonly lines: readonly NotedLine[];
  readonly invoiceLines: readonly DocumentLine[];
  readonly noted: NotedAmounts;
  /** What proration credits have given back, by line; lines without one are left out. */
  readonly credited: ReadonlyMap<string, Decimal>;
  /** Of its lines; `lines` has what each line of the invoice has so far. */
  readonly total: Decimal;
};

/** The refusal of lines that would give back more than the lines of the invoice cost; else null. */
function lineRefusal(
  row: InvoiceRow,
  lines: readonly NotedLine[],
  { invoiceLines, noted, credited }: Pick<LimitedNote, 'invoiceLines' | 'noted' | 'credited'>,
): Refusal | null {
  const creditable = creditableOf(row, invoiceLines);
  const byId = new Map(invoiceLines.map((line) => [line.id, line]));
  for (const [index, { invoiceLineId, amount }] of lines.entries()) {
    const member = `line_items.${index}`;
    const line = byId.get(invoiceLineId);
    if (line === undefined) {
      return invalid({ [`${member}.invoice_line_item_id`]: 'is not a line of the invoice' });
    }
    const cost = mustGet(creditable, line, 'what can be credited of a line');
    // Absent means zero: no earlier note names the line.
    const before = noted.ofLine.get(invoiceLineId) ?? ZERO;
    // Absent means zero: nothing of the line was credited for unused time.
    const unused = credited.get(invoiceLineId) ?? ZERO;
    const left = maxOf(ZERO, cost.minus(before).minus(unused));
    if (amount.greaterThan(left)) {
      const credits = unused.isZero() ? '' : `, and credits for unused time ${plain(unused)}`;
      const used = `the line costs ${plain(cost)} with discounts and taxes, and other notes have ${plain(before)} of it${credits}`;
      return invalid({ [`${member}.amount`]: `must be at most ${plain(left)}: ${used}` });
    }
  }
  return null;
}

/** The refusal of a note that is more than its invoice has left for one; null when it is not. */
function totalRefusal(
  row: InvoiceRow,
  {
    type,
    total,
    noted,
  }: { readonly type: NoteType; readonly total: Decimal; readonly noted: NotedAmounts },
): Refusal | null {
  const isRefund = type === 'REFUND';
  const limit = isRefund
    ? row.amount_paid.minus(row.refunded_amount).minus(noted.openRefunds)
    : row.total.minus(row.adjustment_amount).minus(row.amount_paid).minus(noted.openAdjustments);
  if (total.lessThanOrEqualTo(limit)) return null;
  const used = isRefund
    ? `${plain(row.amount_paid)} was paid, ${plain(row.refunded_amount)} was given back, and drafts have ${plain(noted.openRefunds)}`
    : `the invoice is ${plain(row.total)}, of which ${plain(row.amount_paid)} was paid, ${plain(row.adjustment_amount)} adjusted, and drafts have ${plain(noted.openAdjustments)}`;
  return new Refusal(
    'invalid_operation',
    `the note is ${plain(total)}, and at most ${plain(limit)} can be credited: ${used}`,
  );
}

/** Why a note goes beyond what can be credited (docs/domain.md 19.2); null when it does not. */
export function limitRefusal(row: InvoiceRow, note: LimitedNote): Refusal | null {
  return lineRefusal(row, note.lines, note) ?? totalRefusal(row, note);
}
