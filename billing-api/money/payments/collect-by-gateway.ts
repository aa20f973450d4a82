import { assertPresent } from '../../../runtime/failure.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { Unit } from '../../records/unit.js';
import { beginCharge, isBeingCharged } from './begin-charge.js';
import { findChargeable } from './provider-links.js';
import { isOpenAfterRefund } from './settle-invoice.js';
import { newPayment, storePayment } from './take-payment.js';

const isOpen = (invoice: InvoiceRow): boolean =>
  ['PENDING', 'FAILED'].includes(invoice.payment_status) || isOpenAfterRefund(invoice);

/**
 * Lets the gateway of the environment charge what is left of locked invoices, each by a payment of
 * its own. Those that it cannot charge stay as they are (docs/domain.md 17.3).
 */
export async function collectByGateway(
  unit: Unit,
  invoices: readonly InvoiceRow[],
): Promise<readonly InvoiceRow[]> {
  const open = invoices.filter(isOpen).map(({ id }) => id);
  const methods = await findChargeable(unit, open);
  const after: InvoiceRow[] = [];
  for (const invoice of invoices) {
    const method = methods.get(invoice.id);
    if (method === undefined || (await isBeingCharged(unit, { invoiceId: invoice.id }))) {
      after.push(invoice);
      continue;
    }
    const payment = await storePayment(
      unit,
      newPayment(invoice, {
        payment_method_type: 'CARD',
        payment_method_id: method,
        amount: invoice.amount_remaining,
      }),
    );
    const begun = await beginCharge(unit, { payment, invoice });
    after.push(assertPresent(begun.invoice, 'the invoice that is charged'));
  }
  return after;
}
