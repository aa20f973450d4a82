import { mustGet } from '../../../runtime/failure.js';
import { groupBy } from '../../../runtime/group-by.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { Unit } from '../../records/unit.js';
import type { ChangedLate } from './store-late-usage.js';

/** Tells of late usage that is new, or has become another one: once for each invoice. */
export function tellLateUsage(
  unit: Unit,
  rows: ReadonlyMap<string, InvoiceRow>,
  changed: readonly ChangedLate[],
): void {
  for (const [invoiceId, lines] of groupBy(changed, ({ invoice_id: id }) => id)) {
    const row = mustGet(rows, invoiceId, 'an invoice');
    const payload = {
      late_usage: {
        invoice_id: invoiceId,
        invoice_number: row.invoice_number,
        customer_id: row.customer_id,
        subscription_id: row.subscription_id,
        currency: row.currency,
        lines: lines.map(({ invoice_id: _, ...line }) => line),
      },
    };
    unit.events.push({ name: 'usage.late', entityType: 'invoice', entityId: invoiceId, payload });
  }
}
