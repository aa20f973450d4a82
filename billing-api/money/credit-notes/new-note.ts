import type { Decimal } from '../../../contract/number/decimal.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type {
  CreditNoteRow,
  NewCreditNote,
} from '../../declarations/money/credit-note.resource.js';

const NUMBER_LENGTH = 9;

/** A draft of a note on an invoice, which says nothing of its own yet. */
export function newNote(
  { id: invoice_id, currency, customer_id, subscription_id }: InvoiceRow,
  {
    id,
    type,
    total,
  }: {
    readonly id: string;
    readonly type: CreditNoteRow['credit_note_type'];
    readonly total: Decimal;
  },
): NewCreditNote & { readonly id: string } {
  return {
    id,
    credit_note_number: `CN-${id.slice(-NUMBER_LENGTH)}`,
    credit_note_status: 'DRAFT',
    credit_note_type: type,
    refund_status: type === 'REFUND' ? 'INITIATED' : null,
    reason: null,
    memo: null,
    idempotency_key: null,
    wallet_transaction_id: null,
    currency,
    total_amount: total,
    customer_id,
    invoice_id,
    subscription_id,
    metadata: {},
    finalized_at: null,
    voided_at: null,
    version: 1,
  };
}
