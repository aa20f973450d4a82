import pc from 'picocolors';
import type { CustomerDto } from '../../billing-api/declarations/customers/customer.resource.js';
import type {
  InvoiceDto,
  InvoiceLineItemDto,
} from '../../billing-api/documents/answer/invoice-dto.js';
import {
  invoiceRows,
  type InvoiceRow,
  type PrintedInvoice,
  type PrintedLine,
} from '../../billing-api/reading/print/invoice-rows.js';
import { tableLines } from './tables.js';
import { safeText } from './safe-text.js';

/** The members of an invoice that are shown. */
export type ShownInvoice = Omit<PrintedInvoice, 'line_items'> &
  Pick<InvoiceDto, 'customer_id' | 'period_start' | 'period_end' | 'data_until' | 'currency'> & {
    readonly line_items: readonly (PrintedLine & Pick<InvoiceLineItemDto, 'meter_id'>)[];
    readonly customer?: Pick<CustomerDto, 'name' | 'external_id'> | null;
  };

function cellsOf({ kind, name, quantity, unit, amount }: InvoiceRow): readonly string[] {
  if (kind === 'total') return [pc.bold(name), '', '', pc.bold(amount)];
  return [`${kind === 'detail' ? '  ' : ''}${safeText(name)}`, quantity, unit, amount];
}

/** Which events are in it; nothing of an invoice that bills no usage. */
function untilLines({ line_items: lines, data_until: until }: ShownInvoice): readonly string[] {
  if (lines.every(({ meter_id: meter }) => meter === null)) return [];
  return [
    '',
    until === null
      ? 'It is not known yet up to when all events are included.'
      : `All events that were received before ${until} are included, and perhaps later ones.`,
  ];
}

/**
 * An invoice, previewed or stored, with explanations where it has them, as a table for people. All
 * figures are the texts of the answer; none is computed or rounded here.
 */
export function previewLines(invoice: ShownInvoice, title = 'Invoice preview'): readonly string[] {
  const { customer, period_start: start, period_end: end } = invoice;
  const name = customer?.name ?? customer?.external_id ?? invoice.customer_id;
  const period = start === null ? '' : `, ${start} to ${end ?? ''}`;
  const header = ['line', 'quantity', 'unit amount', `amount ${invoice.currency.toUpperCase()}`];
  const rows = invoiceRows(invoice).map(cellsOf);
  return [
    pc.bold(`${title} for ${safeText(name)}`) + period,
    '',
    ...tableLines(header, rows),
    ...untilLines(invoice),
  ];
}
