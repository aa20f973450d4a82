import pc from 'picocolors';
import type { CustomerDto } from '../../billing-api/declarations/customers/customer.resource.js';
import type { InvoiceDto } from '../../billing-api/billing/answer/invoice-dto.js';
import {
  invoiceRows,
  type InvoiceRow,
  type PrintedInvoice,
} from '../../billing-api/billing/print/invoice-rows.js';
import { tableLines } from '../demo/tables.js';
import { safeText } from './safe-text.js';

/** The members of an invoice that are shown. */
export type ShownInvoice = PrintedInvoice &
  Pick<InvoiceDto, 'customer_id' | 'period_start' | 'period_end' | 'data_until' | 'currency'> & {
    readonly customer?: Pick<CustomerDto, 'name' | 'external_id'> | null;
  };

function cellsOf({ kind, name, quantity, unit, amount }: InvoiceRow): readonly string[] {
  if (kind === 'total') return [pc.bold(name), '', '', pc.bold(amount)];
  return [`${kind === 'detail' ? '  ' : ''}${safeText(name)}`, quantity, unit, amount];
}

/**
 * An invoice, previewed or stored, with explanations where it has them, as a table for people. All
 * figures are the texts of the answer; none is computed or rounded here.
 */
export function previewLines(invoice: ShownInvoice, title = 'Invoice preview'): readonly string[] {
  const { customer, period_start: start, period_end: end, data_until: until } = invoice;
  const name = customer?.name ?? customer?.external_id ?? invoice.customer_id;
  const period = start === null ? '' : `, ${start} to ${end ?? ''}`;
  const header = ['line', 'quantity', 'unit amount', `amount ${invoice.currency.toUpperCase()}`];
  const rows = invoiceRows(invoice).map(cellsOf);
  return [
    pc.bold(`${title} for ${safeText(name)}`) + period,
    '',
    ...tableLines(header, rows),
    '',
    until === null
      ? 'It is not known yet up to when all events are included.'
      : `All events that were received before ${until} are included, and perhaps later ones.`,
  ];
}
