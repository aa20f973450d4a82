import { assertPresent, zip } from '../../../runtime/failure.js';
import { findAttachedCoupons } from '../../coupons/coupons-store.js';
import type { InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { CouponAssociation } from '../../domain/adjustments/adjustments.js';
import { currentRules } from '../../domain/invoice/pricing/rules.js';
import type { ReadUnit, Unit } from '../../records/unit.js';
import { findLineItems } from '../../subscriptions/subscriptions-store.js';
import { findTaxesOf, type TaxedEntity } from '../../taxes/taxes-store.js';
import { couponFrom, taxFrom } from '../compute/adjustment-inputs.js';
import type { DocumentLine } from '../../documents/invoice-document.js';
import { computationOfGiven, storeComputations } from '../../documents/store/computations.js';
import {
  identified,
  replaceDocumentParts,
  withLine,
  type StoredParts,
} from '../../documents/store/document-parts.js';
import type { FinalDraft } from '../../documents/store/final-draft.js';
import { documentOfGiven } from '../../documents/store/given-document.js';
import { findPriorInvoices } from './prior-invoices.js';
import { findDocumentParts } from '../../documents/store/read-documents.js';

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

/** The coupons of subscriptions, with how often invoices other than a draft have them. */
async function couponsOf(unit: ReadUnit, row: InvoiceRow, subscriptionIds: readonly string[]) {
  const attached = await findAttachedCoupons(unit, subscriptionIds);
  const priorOf = await findPriorInvoices(unit, {
    subscriptionIds,
    exceptIds: [row.id],
    since: assertPresent(row.period_end, 'the end of its period'),
  });
  const lineItems = await findLineItems(unit.tx, subscriptionIds);
  const countedOf = (id: string): readonly CouponAssociation[] => {
    const { couponApplicationCounts: counts } = priorOf(id);
    const own = attached.filter(({ association }) => association.subscription_id === id);
    return own.map((coupon) => couponFrom(coupon, lineItems, counts));
  };
  return { attached, countedOf };
}

/** The grouped children that lines belong to, in their order. */
function childIdsOf(lines: readonly DocumentLine[]): readonly string[] {
  return [...new Set(lines.flatMap(({ subscription_id: id }) => (id === null ? [] : [id])))];
}

/** Lines as an invoice has them: those of grouped children behind its own. */
function inOrder(lines: readonly DocumentLine[]): readonly DocumentLine[] {
  return [null, ...childIdsOf(lines)].flatMap((child) =>
    lines.filter(({ subscription_id: id }) => id === child),
  );
}

/**
 * Gives a locked draft these lines, and computes its coupons, taxes and sums from them. Each line
 * keeps its amount, and one that was there before keeps its id.
 */
export async function reviseDraft(
  unit: Unit,
  row: InvoiceRow,
  given: readonly DocumentLine[],
): Promise<FinalDraft> {
  const { subscription_id: subscriptionId } = row;
  const lines = inOrder(given);
  const childIds = childIdsOf(lines);
  const own = subscriptionId === null ? [] : [subscriptionId];
  const { attached, countedOf } = await couponsOf(unit, row, [...own, ...childIds]);
  const taxes = await findTaxesOf(unit, taxedEntitiesOf(row));
  const period = {
    startMs: assertPresent(row.period_start, 'the start of its period'),
    endMs: assertPresent(row.period_end, 'the end of its period'),
  };
  const children = childIds.map((id) => ({ subscriptionId: id, coupons: countedOf(id) }));
  const inputs = {
    rulesVersion: currentRules().version,
    currency: row.currency,
    period,
    lines,
    atMs: unit.now,
    coupons: own.flatMap(countedOf),
    taxes: taxes.map(taxFrom),
    ...(children.length === 0 ? {} : { children }),
  };
  const { totals, ...parts } = documentOfGiven(inputs, { coupons: attached, taxes });
  const stored = identified(unit, row.id, parts);
  const keptLines = stored.lines.map((line, place) => ({
    ...line,
    id: lines[place]?.id ?? line.id,
  }));
  const idOf = new Map(zip(stored.lines, keptLines).map(([{ id }, kept]) => [id, kept.id]));
  const coupons = stored.coupons.map((coupon) => withLine(coupon, idOf));
  const kept: StoredParts = { ...stored, coupons, lines: keptLines };
  await replaceDocumentParts(unit, [row.id], [kept]);
  await storeComputations(unit, [computationOfGiven(row.id, inputs)]);
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
