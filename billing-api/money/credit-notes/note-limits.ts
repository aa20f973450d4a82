import { CREDIT_NOTE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { sql } from 'slonik';
import { z } from 'zod';
import {
  addAt,
  decimalOf,
  maxOf,
  minOf,
  plain,
  sumOf,
  ZERO,
  type Decimal,
} from '../../../contract/number/decimal.js';
import { numericColumn } from '../../../sql/columns.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { UNUSED_TIME, type CreditNoteRow } from '../../declarations/money/credit-note.resource.js';
import { refundableOf } from '../../domain/payment/refundable.js';
import { creditableOf, type CreditedLine } from '../../domain/settlement/creditable.js';
import { assertPresent } from '../../../runtime/failure.js';
import { rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { invalid, Refusal } from '../../records/refusal.js';
import type { StatementUnit } from '../../records/unit.js';
import type { DocumentLine } from '../../documents/invoice-document.js';
import {
  givenElsewhere,
  sumsByLine,
  type LineCredit,
} from '../../documents/store/credited-lines.js';
import { isOpenAfterRefund, paidSumsOf } from '../payments/settle-invoice.js';

export type NoteType = CreditNoteRow['credit_note_type'];

const REFUNDED = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED'];
const ADJUSTED = ['PENDING', 'PROCESSING', 'FAILED'];

/** What kind of note an invoice takes, by what it leaves to be paid (docs/domain.md 19.1). */
export function noteTypeOf(invoice: InvoiceRow): NoteType | Refusal {
  const { payment_status: status } = invoice;
  if (ADJUSTED.includes(status) || isOpenAfterRefund(invoice)) return 'ADJUSTMENT';
  if (REFUNDED.includes(status)) return 'REFUND';
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
  /** Of finalized ones that somebody wrote, and that gave money back. */
  readonly refunds: Decimal;
};

const notedRow = z.object({
  invoice_line_item_id: z.string(),
  credit_note_type: z.enum(['ADJUSTMENT', 'REFUND']),
  is_open: z.boolean(),
  is_unused: z.boolean(),
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
      ${rowIsIn(['note', 'credit_note_status'], CREDIT_NOTE, 'draft')} AS is_open, note.reason IS NOT DISTINCT FROM ${UNUSED_TIME} AS is_unused,
      sum(line.amount) AS amount
    FROM credit_notes AS note
    JOIN credit_note_lines AS line ON line.credit_note_id = note.id AND ${rowIsOfEnvironment('line')}
    WHERE note.invoice_id = ${invoiceId} AND note.credit_note_status = ANY (${sql.array([...states], 'text')})
      AND ${rowIsOfEnvironment('note')}
    GROUP BY line.invoice_line_item_id, note.credit_note_type, is_open, is_unused`);
  const ofLine = new Map<string, Decimal>();
  for (const { invoice_line_item_id: id, amount } of rows) addAt(ofLine, id, amount);
  const sumOfNotes = (type: NoteType, isOpen: boolean): Decimal =>
    sumOf(
      rows
        .filter((row) => row.is_open === isOpen && row.credit_note_type === type && !row.is_unused)
        .map(({ amount }) => amount),
    );
  return {
    ofLine,
    openRefunds: sumOfNotes('REFUND', true),
    openAdjustments: sumOfNotes('ADJUSTMENT', true),
    refunds: sumOfNotes('REFUND', false),
  };
}

/** A line of a note as far as its limit goes. */
export type NotedLine = { readonly invoiceLineId: string; readonly amount: Decimal };

/** A note with what its limits depend on. */
type LimitedNote = {
  readonly type: NoteType;
  readonly lines: readonly NotedLine[];
  readonly invoiceLines: readonly DocumentLine[];
  readonly noted: NotedAmounts;
  /** What was given back of the lines for unused time. */
  readonly credits: readonly LineCredit[];
  /** Of the invoice, before negative lines. */
  readonly tax: Decimal;
  /** Of its lines; `lines` adds up those on one line of the invoice. */
  readonly total: Decimal;
};

/** The lines of an invoice by their ids, each with what is taken of it when these amounts are. */
function creditedLines(
  invoiceLines: readonly DocumentLine[],
  amounts: ReadonlyMap<string, Decimal>,
): ReadonlyMap<string, CreditedLine> {
  return new Map(
    invoiceLines.map(({ id, amount, line_item_discount: own, invoice_level_discount: shared }) => {
      const lineId = assertPresent(id, 'the id of a stored line');
      // Absent means zero: nothing of the line is taken.
      const taken = amounts.get(lineId) ?? ZERO;
      return [lineId, { net: amount.minus(own).minus(shared), taken }];
    }),
  );
}

/** What of the lines was given back for unused time without a note; the others name their lines. */
function withoutNotes(credits: readonly LineCredit[]): ReadonlyMap<string, Decimal> {
  const others = credits.filter(({ note_id: id }) => id === null);
  return sumsByLine(others, ({ net, tax }) => net.plus(tax));
}

/** The refusal of lines that would give back more than the lines of the invoice cost; else null. */
function lineRefusal(
  { currency }: InvoiceRow,
  { lines, invoiceLines, noted, tax, credits: all }: LimitedNote,
): Refusal | null {
  const credited = withoutNotes(all);
  const before = new Map(noted.ofLine);
  for (const [id, amount] of credited) addAt(before, id, amount);
  const after = new Map(before);
  // The last of a line has all that the note takes of it.
  const asked = new Map(lines.map(({ invoiceLineId, amount }) => [invoiceLineId, amount]));
  for (const [id, amount] of asked) addAt(after, id, amount);
  const linesBefore = creditedLines(invoiceLines, before);
  const linesAfter = creditedLines(invoiceLines, after);
  for (const [index, { invoiceLineId: id, amount }] of lines.entries()) {
    const line = linesBefore.get(id);
    const member = `line_items.${index}`;
    if (line === undefined) {
      return invalid({ [`${member}.invoice_line_item_id`]: 'is not a line of the invoice' });
    }
    const each = [...linesAfter].map(([other, one]) => (other === id ? line : one));
    const { most, cost } = creditableOf({ tax, currency }, each, line);
    if (amount.greaterThan(most)) {
      // Absent means zero: no note names the line, and nothing was credited for unused time.
      const sumOfLine = (sums: ReadonlyMap<string, Decimal>): Decimal => sums.get(id) ?? ZERO;
      const unused = sumOfLine(sumsByLine(all, ({ net, tax: own }) => net.plus(own)));
      const notes = sumOfLine(noted.ofLine).plus(sumOfLine(credited)).minus(unused);
      const credits = unused.isZero() ? '' : `, and credits for unused time ${plain(unused)}`;
      const used = `the line costs ${plain(cost)} with discounts and taxes, and other notes have ${plain(notes)} of it${credits}`;
      return invalid({ [`${member}.amount`]: `must be at most ${plain(most)}: ${used}` });
    }
  }
  return null;
}

/**
 * What the lines of an invoice cost in all, less what notes, credits for unused time and refunds of
 * its payments, which name no line, have given back; null where nothing was refunded so.
 */
function leftByRefunds(
  { refunded_amount: back, overpaid_amount: over }: InvoiceRow,
  { invoiceLines, noted, credits, tax }: LimitedNote,
): Decimal | null {
  // What was paid too much is of no line.
  const refunded = back.minus(noted.refunds).minus(over);
  if (!refunded.greaterThan(ZERO)) return null;
  const lines = [...creditedLines(invoiceLines, noted.ofLine).values()];
  const cost = sumOf(lines.map(({ net }) => maxOf(ZERO, net))).plus(tax);
  const taken = sumOf(lines.map((line) => line.taken));
  return maxOf(
    ZERO,
    cost
      .minus(taken)
      .minus(sumOf([...withoutNotes(credits).values()]))
      .minus(refunded),
  );
}

/** The refusal of a note that is more than its invoice has left for one; null when it is not. */
function totalRefusal(row: InvoiceRow, note: LimitedNote): Refusal | null {
  const { type, total, noted, credits } = note;
  const unused = givenElsewhere(credits);
  const isRefund = type === 'REFUND';
  const { ofInvoice } = refundableOf(paidSumsOf(row, unused));
  const ofPayments = isRefund
    ? ofInvoice.minus(noted.openRefunds)
    : row.total.minus(row.adjustment_amount).minus(row.amount_paid).minus(noted.openAdjustments);
  const left = leftByRefunds(row, note);
  const limit = left === null ? ofPayments : minOf(ofPayments, left);
  if (total.lessThanOrEqualTo(limit)) return null;
  const ofTime = unused.isZero() ? '' : `, and credits for unused time have ${plain(unused)}`;
  const used = isRefund
    ? `${plain(row.amount_paid)} was paid, ${plain(row.refunded_amount)} was given back, and drafts have ${plain(noted.openRefunds)}`
    : `the invoice is ${plain(row.total)}, of which ${plain(row.amount_paid)} was paid, ${plain(row.adjustment_amount)} adjusted, and drafts have ${plain(noted.openAdjustments)}`;
  return new Refusal(
    'invalid_operation',
    `the note is ${plain(total)}, and at most ${plain(limit)} can be credited: ${used}${ofTime}`,
  );
}

/** Why a note goes beyond what can be credited (docs/domain.md 19.2); null when it does not. */
export function limitRefusal(row: InvoiceRow, note: LimitedNote): Refusal | null {
  return lineRefusal(row, note) ?? totalRefusal(row, note);
}
