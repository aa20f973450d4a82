import type { InvoiceDto } from '../../documents/answer/invoice-dto.js';
import { mapInTurns } from '../../../runtime/loop-turns.js';
import { csvLines } from '../events/csv.js';
import { unitAmountText } from './invoice-rows.js';

const COLUMNS = [
  ...(['id', 'display_name', 'price_id', 'meter_id', 'subscription_line_item_id'] as const),
  ...(['period_start', 'period_end', 'quantity', 'amount', 'line_item_discount'] as const),
  ...(['invoice_level_discount', 'prepaid_credits_applied', 'currency'] as const),
] as const;

/** The lines of an explained invoice as CSV, with the number of the invoice in each; in slices. */
export async function invoiceCsv(invoice: InvoiceDto): Promise<string> {
  const lines = await mapInTurns(invoice.line_items, (line) =>
    csvLines([
      [
        invoice.id,
        invoice.invoice_number,
        ...COLUMNS.map((column) => line[column]),
        unitAmountText(line),
      ],
    ]),
  );
  const head = csvLines([['invoice_id', 'invoice_number', ...COLUMNS, 'unit_amount']]);
  return [head, ...lines].join('');
}
