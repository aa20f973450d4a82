import { assertPresent } from '../../../runtime/failure.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { InvoiceTask } from './invoice-task.js';

type TaskColumns = Pick<
  InvoiceRow,
  'id' | 'subscription_id' | 'billing_reason' | 'period_start' | 'period_end'
>;

/** A stored invoice of a subscription as a task: to compute it again for its period and reason. */
export function taskOfInvoice(row: TaskColumns): InvoiceTask {
  return {
    subscriptionId: assertPresent(row.subscription_id, 'the subscription of an invoice'),
    period: {
      startMs: assertPresent(row.period_start, 'the start of its period'),
      endMs: assertPresent(row.period_end, 'the end of its period'),
    },
    reason: row.billing_reason,
    invoiceId: row.id,
  };
}
