import type { InvoiceDto } from '../answer/invoice-dto.js';
import { csvText } from '../line-events/csv.js';
import { unitAmountText } from './invoice-rows.js';

const COLUMNS = [
  ...(['id', 'display_name', 'price_id', 'meter_id', 'subscription_line_item_id'] as const),
  ...(['period_start', 'period_end', 'quantity', 'amount', 'line_item_discount'] as const),
  ...(['invoice_level_discount', 'prepaid_credits_applied', 'currency'] as const),
] as const;

/** The lines of an explained invoice as CSV, with the number of the invoice in each. */
export function invoiceCsv(invoice: InvoiceDto): string {
  const rows = invoice.line_items.map((line) => [
    ...[invoice.id, invoice.invoice_number],
    ...COLUMNS.map((column) => line[column]),
    unitAmountText(line),
  ]);
  return csvText(['invoice_id', 'invoice_number', ...COLUMNS, 'unit_amount'], rows);
}
