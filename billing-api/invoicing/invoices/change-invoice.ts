import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import { changeRecord, type ChangeTarget } from '../../records/change-record.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import type { DateTime, MetadataDto } from '../../records/record-dto.js';
import { accept } from '../../records/refusal.js';
import type { Patch } from '../../records/resource.js';
import { writeOperation } from '../../records/operation.js';
import type { Unit } from '../../records/unit.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { announceInvoice } from '../../documents/store/announce-invoice.js';

/**
 * Members that are present are changed.
 * @example {"due_date": "2299-01-31T00:00:00Z", "metadata": {"order": "4711"}}
 */
export interface ChangeInvoiceBody {
  /** Not in the past. */
  due_date?: DateTime;
  /**
   * Where the invoice can be fetched as a PDF; an address that begins with http:// or https://.
   * @maxLength 2048
   */
  invoice_pdf_url?: string;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}

type InvoicePatch = Patch<(typeof INVOICES)['columns']>;

function isWebAddress(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}

function patchFrom(
  { due_date: due, invoice_pdf_url: url, metadata }: ChangeInvoiceBody,
  { now }: Unit,
): InvoicePatch {
  const reader = new MemberReader();
  const dueDate = reader.instant('due_date', due);
  if (dueDate !== null && dueDate < now) reader.note('due_date', 'must not be in the past');
  if (url !== undefined && !isWebAddress(url)) {
    reader.note('invoice_pdf_url', 'must be an address that begins with http:// or https://');
  }
  const patch = givenOf({
    due_date: dueDate ?? undefined,
    invoice_pdf_url: url,
    metadata: reader.changedMetadata(metadata),
  });
  return accept(reader.refusal() ?? patch);
}

/**
 * PUT /invoices/{id}: the due date, the address of the PDF and the metadata of a draft or finalized
 * invoice. Nothing else of it is changed by a request.
 */
export const changeInvoice = writeOperation(
  async (
    unit,
    { target, body }: { readonly target: ChangeTarget; readonly body: ChangeInvoiceBody },
  ): Promise<InvoiceDocument> => {
    const change = () => patchFrom(body, unit);
    const row = await changeRecord(unit, INVOICES, { target, change });
    return announceInvoice(unit, row, 'invoice.update');
  },
);
