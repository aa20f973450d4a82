import { ZERO } from '../../../contract/number/decimal.js';
import { mustGet } from '../../../runtime/failure.js';
import { INVOICE_LINES } from '../../declarations/invoices/invoice-line.resource.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { Money } from '../../domain/money/money.js';
import type { DocumentLine } from '../../documents/invoice-document.js';
import type { CreditedCharge } from '../../documents/store/credited-lines.js';
import { findDocumentParts } from '../../documents/store/read-documents.js';
import { reviseDraft } from '../../invoicing/drafts/revise-drafts.js';
import { updateRecord } from '../../records/change-record.js';
import type { Unit } from '../../records/unit.js';
import type { PlannedLine } from './plan-credits.js';

/** The negative line that gives a part of another line of the same draft back. */
function creditLine(
  charged: DocumentLine,
  { lineItemId, displayName, period, net }: PlannedLine,
): DocumentLine {
  const amount = net.negated();
  const { currency } = charged.trace.rounding.rounded;
  const rounding = {
    ...charged.trace.rounding,
    exact: amount,
    rounded: new Money(amount, currency),
  };
  return {
    ...charged,
    kind: 'credit',
    subscription_line_item_id: lineItemId,
    display_name: `Unused time of ${displayName}`,
    amount,
    period_start: period.startMs,
    period_end: period.endMs,
    line_item_discount: ZERO,
    invoice_level_discount: ZERO,
    metadata: { is_proration_credit: true },
    trace: { ...charged.trace, window: period, proration: null, rounding, discounts: [] },
  };
}

/**
 * Lowers a locked draft that was edited by hand, and is not computed again, by negative lines: its
 * taxes are taken on what is left when it is finalized (docs/domain.md 23.1).
 */
export async function creditDraft(
  unit: Unit,
  row: InvoiceRow,
  credits: readonly PlannedLine[],
): Promise<readonly CreditedCharge[]> {
  const { lines } = (await findDocumentParts(unit, [row.id]))(row.id);
  const byId = new Map(lines.map((line) => [line.id, line]));
  const made = credits.map((credit) => {
    const charged = mustGet(byId, credit.lineId, 'a line of the draft');
    return { ...creditLine(charged, credit), id: unit.newId(INVOICE_LINES.idPrefix), credit };
  });
  const added = made.map(({ credit: _, ...line }) => line);
  const { computed } = await reviseDraft(unit, row, [...lines, ...added]);
  const patch = { ...computed, last_computed_at: unit.now };
  await updateRecord(unit, INVOICES, { row, patch });
  return made.map(({ id: creditLineId, credit }) => ({ ...credit, creditLineId, isOwn: true }));
}
