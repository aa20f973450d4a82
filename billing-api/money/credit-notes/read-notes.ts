import { sql } from 'slonik';
import { assertPresent, mustGet, zip } from '../../../runtime/failure.js';
import { groupBy } from '../../../runtime/group-by.js';
import { invoiceHeaderToDto } from '../../declarations/invoices/invoice-header-dto.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import {
  CREDIT_NOTES,
  CREDIT_NOTE_LINES,
  creditNoteToDto,
  type CreditNote,
  type CreditNoteDto,
  type CreditNoteRow,
} from '../../declarations/money/credit-note.resource.js';
import { refersTo, type Expansions } from '../../records/expand-record.js';
import { isEqual, isOfEnvironment } from '../../records/conditions.js';
import { readRecord } from '../../records/find-record.js';
import { listRequestFrom, type ListQuery } from '../../records/list-request.js';
import type { Occasion } from '../../records/occasion.js';
import type { Refusal } from '../../records/refusal.js';
import { searchExpanded, type Page } from '../../records/search-records.js';
import { readUnit, type ReadDependencies, type StatementUnit } from '../../records/unit.js';
import { invoiceToDtoInTurns } from '../../documents/answer/invoice-answer.js';
import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';
import { readDocument } from '../../documents/store/read-documents.js';

/** Notes with their lines. One statement for all. */
export async function withLines(
  { tx }: StatementUnit,
  rows: readonly CreditNoteRow[],
): Promise<readonly CreditNote[]> {
  const ids = rows.map(({ id }) => id);
  const lines = await tx.any(sql.type(CREDIT_NOTE_LINES.row)`
    SELECT * FROM credit_note_lines
    WHERE credit_note_id = ANY (${sql.array(ids, 'text')}) AND ${isOfEnvironment}
    ORDER BY credit_note_id, position`);
  const linesOf = groupBy(lines, ({ credit_note_id: id }) => id);
  return rows.map((row) => ({ row, lines: mustGet(linesOf, row.id, 'the lines of a note') }));
}

/** What a list of notes can answer with: the invoice, and its parties as they are on it. */
const NOTE_EXPANSIONS: Expansions<
  CreditNoteRow,
  Pick<CreditNoteDto, 'invoice' | 'customer' | 'subscription'>
> = {
  invoice: refersTo('invoice_id', INVOICES, invoiceHeaderToDto),
  customer: refersTo('invoice_id', INVOICES, ({ customer }) => customer),
  subscription: refersTo('invoice_id', INVOICES, ({ subscription }) => subscription),
};

/** The query of GET /creditnotes. */
export interface ListCreditNotesQuery extends ListQuery {
  invoice_id?: string;
  credit_note_status?: CreditNoteRow['credit_note_status'];
  credit_note_type?: CreditNoteRow['credit_note_type'];
}

/** GET /creditnotes. */
export function listCreditNotes(
  dependencies: ReadDependencies,
  occasion: Occasion,
  query: ListCreditNotesQuery,
): Promise<Page<CreditNoteDto> | Refusal> {
  const conditions = [
    ...isEqual('invoice_id', query.invoice_id),
    ...isEqual('credit_note_status', query.credit_note_status),
    ...isEqual('credit_note_type', query.credit_note_type),
  ];
  const request = listRequestFrom(query);
  return readUnit(dependencies, occasion, async (unit) => {
    const search = { request, conditions, expansions: NOTE_EXPANSIONS };
    const page = await searchExpanded(unit, CREDIT_NOTES, search);
    const notes = await withLines(
      unit,
      page.items.map(({ row }) => row),
    );
    const items = zip(notes, page.items).map(([note, { expansions }]) => ({
      ...creditNoteToDto(note),
      ...expansions,
    }));
    return { ...page, items };
  });
}

/** A credit note with its invoice and its parties. */
export interface FullCreditNoteDto extends CreditNoteDto {
  invoice: InvoiceDto;
}

/** GET /creditnotes/{id}: with its invoice, and with the parties of that. */
export function readCreditNote(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<FullCreditNoteDto | Refusal> {
  return readUnit(dependencies, occasion, async (unit) => {
    const row = await readRecord(unit, CREDIT_NOTES, id);
    const note = assertPresent((await withLines(unit, [row]))[0], 'the note');
    const invoice = await readDocument(unit, row.invoice_id);
    return {
      ...creditNoteToDto(note),
      customer: invoice.header.customer,
      subscription: invoice.header.subscription,
      invoice: await invoiceToDtoInTurns(invoice, null),
    };
  });
}
