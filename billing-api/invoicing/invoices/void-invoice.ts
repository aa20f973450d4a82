import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { INVOICES } from '../../declarations/invoices/invoice.resource.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import type { ChangeTarget } from '../../records/change-record.js';
import { isOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { MemberReader } from '../../records/member-rules.js';
import { moveRecord } from '../../records/move-record.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { Refusal, accept } from '../../records/refusal.js';
import { writeOperation } from '../../records/operation.js';
import type { Unit } from '../../records/unit.js';
import { invoiceToDto } from '../../documents/answer/invoice-answer.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { FIRST_REASONS } from '../../money/payments/activate-paid.js';
import { isBeingCharged } from '../../money/payments/begin-charge.js';
import { endRetries } from '../../money/payments/plan-retry.js';
import { documentOf } from '../../documents/store/document-parts.js';
import { findDocumentParts } from '../../documents/store/read-documents.js';
import { undoMoney } from './undo-money.js';

/** @example {"metadata": {"reason": "wrong address"}} */
export interface VoidInvoiceBody {
  /** Added to those of the invoice. */
  metadata?: MetadataDto;
}

/** An invoice stays while money is on its way, and when all was paid back (docs/domain.md 18). */
const KEPT = ['PROCESSING', 'REFUNDED'];

/**
 * POST /invoices/{id}/void: the invoice is no claim any more, its period can be billed anew, and
 * what was paid of it goes to a wallet. Of two calls at once the second is refused.
 */
export const voidInvoice = writeOperation(
  (unit, { target, body }: { readonly target: ChangeTarget; readonly body: VoidInvoiceBody }) =>
    voidHere(unit, target, body),
);

/** Voids an invoice in a transaction that may do more. */
async function voidHere(
  unit: Unit,
  target: ChangeTarget,
  body: VoidInvoiceBody,
): Promise<InvoiceDocument> {
  const partsOf = await findDocumentParts(unit, [target.id]);
  const row = await moveRecord(unit, INVOICES, {
    target,
    lifecycle: INVOICE,
    move: 'void',
    to: 'VOIDED',
    patch: async (row) => {
      const { payment_status: status, metadata } = row;
      if (KEPT.includes(status)) {
        const problem = `the payment of the invoice is ${status}, so the invoice cannot be voided`;
        return new Refusal('invalid_operation', problem);
      }
      const reader = new MemberReader();
      const merged = reader.metadata({ ...metadata, ...body.metadata });
      accept(reader.refusal());
      const undone = await undoMoney(unit, row);
      return {
        payment_status: undone.isReturned ? ('REFUNDED' as const) : ('VOIDED' as const),
        finalize_at: null,
        voided_at: unit.now,
        metadata: merged,
      };
    },
    told: (after) => Promise.resolve(invoiceToDto(documentOf(after, partsOf(after.id)), null)),
  });
  return documentOf(row, partsOf(row.id));
}

/** Voids the drafts of a subscription whose periods begin at an instant or later. */
export async function voidDraftsFrom(
  unit: Unit,
  subscriptionId: string,
  atMs: InstantMs,
): Promise<void> {
  const ids = await unit.tx.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM invoices
    WHERE subscription_id = ${subscriptionId} AND ${rowIsIn(['invoice_status'], INVOICE, 'draft')}
      AND period_start >= ${formatInstant(atMs)}::timestamptz AND ${isOfEnvironment}
    ORDER BY id`);
  for (const id of ids) await voidHere(unit, { id }, {});
}

/**
 * Voids what a held subscription would have begun with that nobody has paid: without it nothing was
 * bought, so its card is not charged any more (docs/domain.md 24.3). Where a charge is under way,
 * the gateway decides, and no other one follows.
 */
export async function voidUnpaidFirst(unit: Unit, subscriptionId: string): Promise<void> {
  const rows = await unit.tx.any(sql.type(INVOICES.row)`
    SELECT * FROM invoices
    WHERE subscription_id = ${subscriptionId} AND ${rowIsIn(['invoice_status'], INVOICE, 'claimed')}
      AND billing_reason = ANY (${sql.array(FIRST_REASONS, 'text')}) AND amount_remaining > 0
      AND ${isOfEnvironment}
    ORDER BY id FOR NO KEY UPDATE`);
  for (const row of rows) {
    if (
      row.payment_status === 'PROCESSING' ||
      (await isBeingCharged(unit, { invoiceId: row.id }))
    ) {
      await endRetries(unit, row);
      continue;
    }
    await voidHere(unit, { id: row.id }, {});
  }
}
