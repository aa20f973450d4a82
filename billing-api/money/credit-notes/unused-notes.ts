import type { Interval } from '../../../contract/instant.js';
import type { Decimal } from '../../../contract/number/decimal.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import {
  CREDIT_NOTE_LINES,
  CREDIT_NOTES,
  creditNoteToDto,
  UNUSED_TIME,
} from '../../declarations/money/credit-note.resource.js';
import { grossOf, type TaxedPart } from '../../domain/settlement/credit-taxes.js';
import { createRecords } from '../../records/create-record.js';
import { announce } from '../../records/recorded-change.js';
import type { Unit } from '../../records/unit.js';
import { newNote } from './new-note.js';

/** What a note gives back of a line of its invoice, for a time that is not used. */
type UnusedLine = TaxedPart & {
  readonly lineItemId: string;
  readonly displayName: string;
  readonly period: Interval;
};

/** A note on an invoice for unused time. */
export type NewUnusedNote = {
  readonly id: string;
  readonly invoice: InvoiceRow;
  readonly lines: readonly UnusedLine[];
  readonly total: Decimal;
  /** The movement by which a wallet got it; null where it has lowered what is to be paid. */
  readonly transactionId: string | null;
};

/** Stores finalized notes for unused time, and tells of them as of others: made, and finalized. */
export async function storeUnusedNotes(unit: Unit, notes: readonly NewUnusedNote[]): Promise<void> {
  if (notes.length === 0) return;
  const items = notes.map(({ id, invoice, total, transactionId }) => ({
    ...newNote(invoice, { id, total, type: transactionId === null ? 'ADJUSTMENT' : 'REFUND' }),
    credit_note_status: 'FINALIZED' as const,
    refund_status: transactionId === null ? null : ('SUCCEEDED' as const),
    reason: UNUSED_TIME,
    wallet_transaction_id: transactionId,
    finalized_at: unit.now,
  }));
  const rows = await createRecords(unit, CREDIT_NOTES, { items, isBulk: false });
  const parts = notes.flatMap(({ id, invoice, lines }) =>
    lines.map((line, position) => ({
      credit_note_id: id,
      invoice_line_item_id: line.lineId,
      subscription_line_item_id: line.lineItemId,
      position,
      display_name: `Unused time of ${line.displayName}`,
      amount: grossOf(line),
      net_amount: line.net,
      tax_amount: line.tax,
      period_start: line.period.startMs,
      period_end: line.period.endMs,
      metadata: {},
      currency: invoice.currency,
    })),
  );
  const stored = await createRecords(unit, CREDIT_NOTE_LINES, { items: parts, isBulk: false });
  for (const row of rows) {
    const lines = stored.filter(({ credit_note_id: id }) => id === row.id);
    const event = { id: row.id, told: creditNoteToDto({ row, lines }) };
    announce(unit, CREDIT_NOTES, { ...event, name: 'credit_note.created' });
    announce(unit, CREDIT_NOTES, { ...event, name: 'credit_note.updated' });
  }
}
