import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { CREDIT_NOTE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { sql } from 'slonik';
import { sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import {
  CREDIT_NOTES,
  CREDIT_NOTE_LINES,
  creditNoteToDto,
  type CreateCreditNoteBody,
  type CreditNote,
  type CreditNoteRow,
} from '../../declarations/money/credit-note.resource.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { createRecord, insertParts } from '../../records/create-record.js';
import { lockRecord, readRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import type { ChangeTarget } from '../../records/change-record.js';
import type { Occasion } from '../../records/occasion.js';
import { announce } from '../../records/recorded-change.js';
import { accept, notFound, type Refusal, Refused } from '../../records/refusal.js';
import { repeatedRecord } from '../../records/repeated-key.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import type { DocumentLine } from '../../documents/invoice-document.js';
import { lockFinalized } from '../payments/settle-invoice.js';
import { findLineCredits, findTaxSetOff } from '../../documents/store/credited-lines.js';
import { findDocumentParts } from '../../documents/store/read-documents.js';
import { findNotedAmounts, limitRefusal, noteTypeOf } from './note-limits.js';
import { newNote } from './new-note.js';
import { withLines } from './read-notes.js';
import { finalizeNote, voidNote, type HeldNote } from './settle-note.js';

function readLines(body: CreateCreditNoteBody, { currency }: InvoiceRow) {
  const reader = new MemberReader();
  const { credit_note_number: number } = body;
  if (number !== undefined) reader.line('credit_note_number', number);
  const lines = body.line_items.map((line, index) => {
    const place = `line_items.${index}.`;
    // Absent means zero: a bad amount, for which the request is refused.
    const amount = reader.positive(`${place}amount`, line.amount) ?? ZERO;
    reader.minorDigits(`${place}amount`, amount, currency);
    if (line.display_name !== undefined) reader.line(`${place}display_name`, line.display_name);
    return {
      invoiceLineId: line.invoice_line_item_id,
      amount,
      displayName: line.display_name ?? null,
      metadata: reader.metadata(line.metadata, `${place}metadata`),
    };
  });
  const metadata = reader.metadata(body.metadata);
  return reader.refusal() ?? { lines, metadata };
}

/** The note that was made with this key; null when there is none. */
function findRepeated({ tx }: Unit, key: string | undefined): Promise<CreditNoteRow | null> {
  if (key === undefined) return Promise.resolve(null);
  return tx.maybeOne(sql.type(CREDIT_NOTES.row)`
    SELECT * FROM credit_notes WHERE idempotency_key = ${key} AND ${isOfEnvironment}`);
}

/** Two lines of a request on one line of the invoice count together. */
function joined(
  lines: readonly { readonly invoiceLineId: string; readonly amount: typeof ZERO }[],
) {
  return lines.map((line, index) => ({
    ...line,
    amount: sumOf(
      lines
        .slice(0, index + 1)
        .filter(({ invoiceLineId }) => invoiceLineId === line.invoiceLineId)
        .map(({ amount }) => amount),
    ),
  }));
}

type Request = Exclude<ReturnType<typeof readLines>, Refusal>;

/** The note that the first request with this key made; refused when the lines or amounts differ. */
async function answerRepeated(
  unit: Unit,
  note: CreditNoteRow,
  { body, invoice }: { readonly body: CreateCreditNoteBody; readonly invoice: InvoiceRow },
): Promise<CreditNote> {
  const request = accept(readLines(body, invoice));
  const [known] = await withLines(unit, [note]);
  if (known === undefined) throw new Refused(notFound(CREDIT_NOTES.name, note.id));
  const { lines } = request;
  const isSame =
    note.invoice_id === invoice.id &&
    known.lines.length === lines.length &&
    zip(known.lines, lines).every(
      ([line, asked]) =>
        line.invoice_line_item_id === asked.invoiceLineId && line.amount.equals(asked.amount),
    );
  return accept(repeatedRecord(known, { what: 'credit note', isSame }));
}

/** What only a line for unused time has. */
const NOT_UNUSED = {
  subscription_line_item_id: null,
  net_amount: null,
  tax_amount: null,
  period_start: null,
  period_end: null,
} as const;

async function storeLines(
  unit: Unit,
  note: CreditNoteRow,
  { lines, names }: Request & { readonly names: ReadonlyMap<string, DocumentLine> },
): Promise<void> {
  await insertParts(
    unit,
    CREDIT_NOTE_LINES,
    lines.map(({ invoiceLineId, amount, displayName, metadata }, position) => ({
      id: unit.newId(CREDIT_NOTE_LINES.idPrefix),
      credit_note_id: note.id,
      invoice_line_item_id: invoiceLineId,
      ...NOT_UNUSED,
      position,
      amount,
      metadata,
      currency: note.currency,
      display_name:
        displayName ?? mustGet(names, invoiceLineId, 'a line of the invoice').display_name,
    })),
  );
}

/** The taxes of an invoice before what its negative lines take off. */
async function taxBefore(
  unit: Unit,
  { id, total_tax: tax }: InvoiceRow,
  lines: readonly DocumentLine[],
): Promise<Decimal> {
  return lines.some(({ kind }) => kind === 'credit')
    ? tax.plus(await findTaxSetOff(unit, id))
    : tax;
}

async function storeNote(
  unit: Unit,
  invoice: InvoiceRow,
  body: CreateCreditNoteBody,
): Promise<CreditNote> {
  const type = accept(noteTypeOf(invoice));
  const request = accept(readLines(body, invoice));
  const { lines: invoiceLines } = (await findDocumentParts(unit, [invoice.id]))(invoice.id);
  const noted = await findNotedAmounts(unit, invoice.id, CREDIT_NOTE.groups.counted);
  const total = sumOf(request.lines.map(({ amount }) => amount));
  accept(
    limitRefusal(invoice, {
      type,
      invoiceLines,
      noted,
      total,
      lines: joined(request.lines),
      credits: await findLineCredits(unit, [invoice.id]),
      tax: await taxBefore(unit, invoice, invoiceLines),
    }),
  );
  const id = unit.newId(CREDIT_NOTES.idPrefix);
  const { reason = null, memo = null, idempotency_key = null } = body;
  const draft = newNote(invoice, { id, type, total });
  const { credit_note_number = draft.credit_note_number } = body;
  const { metadata } = request;
  const said = { credit_note_number, reason, memo, idempotency_key, metadata };
  const row = await createRecord(unit, CREDIT_NOTES, { ...draft, ...said });
  const names = new Map(invoiceLines.map((line) => [assertPresent(line.id, 'an id'), line]));
  await storeLines(unit, row, { ...request, names });
  const [note] = await withLines(unit, [row]);
  if (note === undefined) throw new Refused(notFound(CREDIT_NOTES.name, row.id));
  const told = creditNoteToDto(note);
  announce(unit, CREDIT_NOTES, { id: row.id, name: 'credit_note.created', told });
  return note;
}

/**
 * POST /creditnotes: a note on lines of a finalized invoice, within its limits, which are checked
 * in the step that writes it. A repeated `idempotency_key` answers the first note.
 */
export function createCreditNote(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: CreateCreditNoteBody,
): Promise<CreditNote | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) => {
    const invoice = await lockFinalized(unit, body.invoice_id);
    const repeated = await findRepeated(unit, body.idempotency_key);
    if (repeated !== null) return answerRepeated(unit, repeated, { body, invoice });
    const note = await storeNote(unit, invoice, body);
    if (body.process_credit_note === false) return note;
    return finalizeNote(unit, { note, invoice }, { id: note.row.id });
  });
}

/** Locks a note after its invoice. */
async function hold(unit: Unit, id: string): Promise<HeldNote> {
  const read = await readRecord(unit, CREDIT_NOTES, id);
  const invoice = await lockFinalized(unit, read.invoice_id);
  const row = await lockRecord(unit, CREDIT_NOTES, id);
  if (row === null) throw new Refused(notFound(CREDIT_NOTES.name, id));
  const [note] = await withLines(unit, [row]);
  return accept(note === undefined ? notFound(CREDIT_NOTES.name, id) : { note, invoice });
}

/** POST /creditnotes/{id}/finalize: within the limits as they are now. */
export function finalizeCreditNote(
  dependencies: WriteDependencies,
  occasion: Occasion,
  target: ChangeTarget,
): Promise<CreditNote | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) => {
    const held = await hold(unit, target.id);
    const { note, invoice } = held;
    if (isIn(CREDIT_NOTE, 'draft', note.row.credit_note_status)) {
      await stillWithin(unit, held);
    }
    return finalizeNote(unit, { note, invoice }, target);
  });
}

/** Whether the invoice takes a draft as it stands now, after payments and other notes. */
async function stillWithin(unit: Unit, { note, invoice }: HeldNote): Promise<void> {
  accept(noteTypeOf(invoice));
  const { lines: invoiceLines } = (await findDocumentParts(unit, [invoice.id]))(invoice.id);
  const noted = await findNotedAmounts(unit, invoice.id, CREDIT_NOTE.groups.given);
  const lines = joined(
    note.lines.map(({ invoice_line_item_id: id, amount }) => ({ invoiceLineId: id, amount })),
  );
  const { credit_note_type: own, total_amount: total } = note.row;
  const credits = await findLineCredits(unit, [invoice.id]);
  const tax = await taxBefore(unit, invoice, invoiceLines);
  accept(limitRefusal(invoice, { type: own, lines, invoiceLines, noted, total, credits, tax }));
}

/** POST /creditnotes/{id}/void. */
export function voidCreditNote(
  dependencies: WriteDependencies,
  occasion: Occasion,
  target: ChangeTarget,
): Promise<CreditNote | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) => {
    const held = await hold(unit, target.id);
    return voidNote(unit, held, target);
  });
}
