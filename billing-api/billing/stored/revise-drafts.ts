import { assertPresent, zip } from '../../../runtime/failure.js';
import { findAttachedCoupons } from '../../coupons/coupons-store.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { ReadUnit, Unit } from '../../records/unit.js';
import { findLineItems } from '../../subscriptions/subscriptions-store.js';
import { findTaxesOf, type TaxedEntity } from '../../taxes/taxes-store.js';
import { couponFrom, taxFrom } from '../compute/adjustment-inputs.js';
import type { DocumentLine } from '../document/invoice-document.js';
import { computationOfGiven, storeComputations } from './computations.js';
import { identified, replaceDocumentParts, withLine, type StoredParts } from './document-parts.js';
import type { FinalDraft } from './final-draft.js';
import { documentOfGiven } from './given-document.js';
import { findPriorInvoices } from './prior-invoices.js';
import { findDocumentParts } from './read-documents.js';

/** What can tax an invoice (docs/domain.md 15). */
function taxedEntitiesOf(row: InvoiceRow): readonly TaxedEntity[] {
  const { subscription_id: subscriptionId, customer_id: customerId, tenant_id: tenantId } = row;
  return [
    { type: 'invoice', id: row.id },
    ...(subscriptionId === null ? [] : [{ type: 'subscription' as const, id: subscriptionId }]),
    { type: 'customer', id: customerId },
    { type: 'tenant', id: tenantId },
  ];
}

/** The coupons of the subscription of a draft, with how often other invoices have them. */
async function couponsOf(unit: ReadUnit, row: InvoiceRow) {
  if (row.subscription_id === null) return { attached: [], counted: [] };
  const attached = await findAttachedCoupons(unit, [row.subscription_id]);
  const priorOf = await findPriorInvoices(unit, {
    subscriptionIds: [row.subscription_id],
    exceptIds: [row.id],
    since: assertPresent(row.period_end, 'the end of its period'),
  });
  const { couponApplicationCounts: counts } = priorOf(row.subscription_id);
  const lineItems = await findLineItems(unit.tx, [row.subscription_id]);
  const counted = attached.map((coupon) =>
    // Absent means zero: no other invoice has it.
    couponFrom(coupon, lineItems, counts.get(coupon.association.id) ?? 0),
  );
  return { attached, counted };
}

/**
 * Gives a locked draft these lines, and computes its coupons, taxes and sums from them. Each line
 * keeps its amount, and one that was there before keeps its id.
 */
export async function reviseDraft(
  unit: Unit,
  row: InvoiceRow,
  lines: readonly DocumentLine[],
): Promise<FinalDraft> {
  const { attached, counted } = await couponsOf(unit, row);
  const taxes = await findTaxesOf(unit, taxedEntitiesOf(row));
  const period = {
    startMs: assertPresent(row.period_start, 'the start of its period'),
    endMs: assertPresent(row.period_end, 'the end of its period'),
  };
  const given = {
    ...{ currency: row.currency, period, lines, atMs: unit.now },
    ...{ coupons: counted, taxes: taxes.map(taxFrom) },
  };
  const { totals, ...parts } = documentOfGiven(given, { coupons: attached, taxes });
  const stored = identified(unit, row.id, parts);
  const keptLines = stored.lines.map((line, place) => ({
    ...line,
    id: lines[place]?.id ?? line.id,
  }));
  const idOf = new Map(zip(stored.lines, keptLines).map(([{ id }, kept]) => [id, kept.id]));
  const coupons = stored.coupons.map((coupon) => withLine(coupon, idOf));
  const kept: StoredParts = { ...stored, coupons, lines: keptLines };
  await replaceDocumentParts(unit, [row.id], [kept]);
  await storeComputations(unit, [computationOfGiven(row.id, given)]);
  return { row, computed: totals, parts: kept };
}

/** Locked drafts whose lines were changed by hand, with their taxes and sums as of now. */
export async function reviseDrafts(
  unit: Unit,
  rows: readonly InvoiceRow[],
): Promise<readonly FinalDraft[]> {
  const partsOf = await findDocumentParts(
    unit,
    rows.map(({ id }) => id),
  );
  const drafts: FinalDraft[] = [];
  for (const row of rows) drafts.push(await reviseDraft(unit, row, partsOf(row.id).lines));
  return drafts;
}
