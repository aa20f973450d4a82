import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { ONE } from '../../../contract/number/decimal.js';
import { assertPresent } from '../../../runtime/failure.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { targetRefusal, updateRecord, type ChangeTarget } from '../../records/change-record.js';
import { lockRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import type { DecimalText, MetadataDto } from '../../records/record-dto.js';
import { accept, notFound, Refusal, Refused } from '../../records/refusal.js';
import { writeUnit, type WriteDependencies } from '../../records/unit.js';
import type { DocumentLine, InvoiceDocument } from '../../documents/invoice-document.js';
import { documentOf } from '../../documents/store/document-parts.js';
import { givenLine } from '../../documents/store/given-line.js';
import { findDocumentParts } from '../../documents/store/read-documents.js';
import { reviseDraft } from '../drafts/revise-drafts.js';

/** @example {"display_name": "Goodwill", "amount": "12.50"} */
export interface AddInvoiceLineBody {
  /**
   * @minLength 1
   * @maxLength 255
   */
  display_name: string;
  /** Money of the currency of the invoice, 0 or more. */
  amount: DecimalText;
  /** @default "1" */
  quantity?: DecimalText;
  metadata?: MetadataDto;
}

/**
 * Members that are present are changed.
 * @example {"amount": "10.00"}
 */
export interface ChangeInvoiceLineBody {
  /**
   * @minLength 1
   * @maxLength 255
   */
  display_name?: string;
  amount?: DecimalText;
  quantity?: DecimalText;
  metadata?: MetadataDto | null;
}

type Lines = readonly DocumentLine[];

/** What a request makes of the lines of a draft. */
type Edit = (lines: Lines, row: InvoiceRow) => Lines | Refusal;

/** Changes the lines of a draft; from then on no job computes it. */
function editLines(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, edit }: { readonly target: ChangeTarget; readonly edit: Edit },
): Promise<InvoiceDocument | Refusal> {
  return writeUnit(dependencies, occasion, async (unit) => {
    const row = await lockRecord(unit, INVOICES, target.id);
    if (row === null) throw new Refused(notFound(INVOICES.name, target.id));
    accept(targetRefusal(INVOICES, row, target));
    if (!isIn(INVOICE, 'draft', row.invoice_status)) {
      const problem = `the invoice is ${row.invoice_status}; only lines of a draft can be changed`;
      throw new Refused(new Refusal('invalid_operation', problem));
    }
    const before = (await findDocumentParts(unit, [row.id]))(row.id).lines;
    const lines = accept(edit(before, row));
    const { computed, parts } = await reviseDraft(unit, row, lines);
    const patch = { ...computed, is_manually_edited: true, last_computed_at: unit.now };
    const after = await updateRecord(unit, INVOICES, { row, patch });
    return documentOf(after, parts);
  });
}

/** An amount of a request: money of the currency, 0 or more. */
function readAmount(reader: MemberReader, text: string | undefined, currency: string) {
  const amount = reader.decimal('amount', text);
  if (amount === null) return null;
  reader.minorDigits('amount', amount, currency);
  if (amount.isNegative()) reader.note('amount', 'must be 0 or more');
  return amount;
}

/** POST /invoices/{id}/line_items. */
export function addInvoiceLine(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: AddInvoiceLineBody },
): Promise<InvoiceDocument | Refusal> {
  const edit: Edit = (lines, { id, currency, period_start: startMs, period_end: endMs }) => {
    const reader = new MemberReader();
    const displayName = reader.line('display_name', body.display_name);
    const amount = readAmount(reader, body.amount, currency);
    const quantity = reader.decimal('quantity', body.quantity) ?? ONE;
    const metadata = reader.metadata(body.metadata);
    const problems = reader.refusal();
    if (problems !== null) return problems;
    const window = {
      startMs: assertPresent(startMs, 'the start of its period'),
      endMs: assertPresent(endMs, 'the end of its period'),
    };
    const given = { displayName, amount: assertPresent(amount, 'the amount'), quantity, metadata };
    const terms = { ...given, priceId: null, period: window };
    return [...lines, givenLine(terms, { id, currency, window })];
  };
  return editLines(dependencies, occasion, { target, edit });
}

/** PUT /invoices/{id}/line_items/{line_id}. */
export function changeInvoiceLine(
  dependencies: WriteDependencies,
  occasion: Occasion,
  change: {
    readonly target: ChangeTarget;
    readonly lineId: string;
    readonly body: ChangeInvoiceLineBody;
  },
): Promise<InvoiceDocument | Refusal> {
  const { target, lineId, body } = change;
  const edit: Edit = (lines, { currency }) => {
    const line = lines.find(({ id }) => id === lineId);
    if (line === undefined) return notFound('invoice line', lineId);
    const reader = new MemberReader();
    const amount = readAmount(reader, body.amount, currency) ?? line.amount;
    const changed = {
      ...line,
      amount,
      display_name: reader.changedName('display_name', body.display_name) ?? line.display_name,
      quantity: reader.decimal('quantity', body.quantity) ?? line.quantity,
      metadata: reader.changedMetadata(body.metadata) ?? line.metadata,
    };
    const problems = reader.refusal();
    return problems ?? lines.map((one) => (one === line ? changed : one));
  };
  return editLines(dependencies, occasion, { target, edit });
}

/** DELETE /invoices/{id}/line_items/{line_id}. */
export function removeInvoiceLine(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, lineId }: { readonly target: ChangeTarget; readonly lineId: string },
): Promise<InvoiceDocument | Refusal> {
  const edit: Edit = (lines) =>
    lines.some(({ id }) => id === lineId)
      ? lines.filter(({ id }) => id !== lineId)
      : notFound('invoice line', lineId);
  return editLines(dependencies, occasion, { target, edit });
}
