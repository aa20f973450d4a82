import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { assertPresent } from '../../../runtime/failure.js';
import { sql } from 'slonik';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { GroupedInputs, InvoiceInputs } from '../../domain/invoice/invoice.js';
import { decodeSnapshot } from '../../domain/invoice/snapshot/invoice-snapshot.js';
import { encodeValue } from '../../domain/invoice/snapshot/encode-value.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import { readUnit, type ReadUnit } from '../../records/unit.js';
import { documentOfComputed } from '../../invoicing/compute/document-of-computed.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import { computeTasks, type BillingDependencies } from '../../invoicing/drafts/compute-tasks.js';
import { findComputation } from '../../documents/store/computations.js';
import { decodeGiven } from '../../documents/store/given-document.js';
import { readDocument } from '../../documents/store/read-documents.js';
import { taskOfInvoice } from '../../invoicing/drafts/task-of-invoice.js';
import { diffLines, type DiffCause, type LineDiff } from './diff-lines.js';

/** An invoice, or what a draft would compute to now, with what it was computed from. */
type Side = { readonly document: InvoiceDocument; readonly inputs: InvoiceInputs | null };

/** Two invoices compared line by line. */
export type InvoiceDiff = {
  readonly from: InvoiceDocument;
  /** Without an id when it is what a draft would compute to now. */
  readonly to: InvoiceDocument;
  readonly lines: readonly LineDiff[];
  /** Why the sums differ beside the lines: coupons of the invoice, taxes. */
  readonly causes: readonly DiffCause[];
};

async function findInputs(unit: ReadUnit, id: string): Promise<InvoiceInputs | null> {
  const computation = await findComputation(unit, id);
  if (computation === null || decodeGiven(computation.inputs) !== null) return null;
  return decodeSnapshot(computation.inputs).inputs;
}

async function readSide(unit: ReadUnit, id: string): Promise<Side> {
  const document = await readDocument(unit, id);
  return { document, inputs: await findInputs(unit, id) };
}

/** The invoice that replaced one, or that it replaced; null when there is none. */
async function findOther({ tx }: ReadUnit, row: InvoiceDocument['header']): Promise<string | null> {
  if (row.recalculated_invoice_id !== null) return row.recalculated_invoice_id;
  const replaced = await tx.maybeOne(sql.type(INVOICES.row)`
    SELECT * FROM invoices WHERE recalculated_invoice_id = ${row.id} AND ${isOfEnvironment}`);
  return replaced?.id ?? null;
}

async function computeNow(
  dependencies: BillingDependencies,
  occasion: Occasion,
  row: InvoiceRow,
): Promise<Side | Refusal> {
  const { computed, refused } = await computeTasks(dependencies, occasion, () =>
    Promise.resolve([taskOfInvoice(row)]),
  );
  const [refusal] = refused;
  if (refusal !== undefined) return refusal.refusal;
  const now = assertPresent(computed[0], 'the computed draft');
  return { document: documentOfComputed(now), inputs: now.inputs };
}

type Found = { readonly own: Side; readonly other: Side | null };

async function findSides(unit: ReadUnit, id: string, against: string | undefined): Promise<Found> {
  const own = await readSide(unit, id);
  const otherId = against ?? (await findOther(unit, own.document.header));
  if (otherId === null) return { own, other: null };
  const other = await readSide(unit, otherId);
  return { own, other };
}

/** The replaced one comes first; of two others, the one that is asked for. */
function ordered({ own, other }: { readonly own: Side; readonly other: Side }): [Side, Side] {
  const isReplacement = other.document.header.recalculated_invoice_id === own.document.header.id;
  return isReplacement ? [other, own] : [own, other];
}

/**
 * Whether other coupons apply, or the same by other terms. A discount that follows what it is taken
 * off is the same coupon; so is one that has nothing to be taken off.
 */
function hasOtherCoupons(from: Side, to: Side): boolean {
  const applied = ({ document: { coupons } }: Side): string =>
    encode(coupons.map((one) => [one.coupon_id, one.discount_type, one.discount_percentage]));
  const attached = ({ inputs }: Side): string =>
    encode(inputs === null ? null : [inputs.coupons, inputs.children?.map(couponsOf) ?? null]);
  if (from.inputs === null || to.inputs === null) return applied(from) !== applied(to);
  const isOther = attached(from) !== attached(to);
  const amounts = ({ document: { coupons } }: Side): string =>
    encode(coupons.map((one) => [one.coupon_id, one.discounted_amount]));
  return isOther && (applied(from) !== applied(to) || amounts(from) !== amounts(to));
}

const couponsOf = ({ inputs }: GroupedInputs) => inputs.coupons;

/** Equal exactly when two values are. */
const encode = (value: unknown): string => JSON.stringify(encodeValue(value));

function hasOtherTaxes(from: Side, to: Side): boolean {
  const rates = ({ document: { taxes } }: Side): string =>
    encode(
      taxes.map(({ tax_rate_id: id, tax_rate: rate }) => [
        id,
        rate.percentage_value,
        rate.fixed_value,
      ]),
    );
  return rates(from) !== rates(to);
}

/**
 * GET /invoices/{id}/diff: an invoice and its replacement, or another one that is named, or a draft
 * and what it would compute to now; line by line, each with what has changed among the inputs.
 */
export async function diffInvoice(
  dependencies: BillingDependencies,
  occasion: Occasion,
  { id, against }: { readonly id: string; readonly against: string | undefined },
): Promise<InvoiceDiff | Refusal> {
  const found = await readUnit(dependencies, occasion, (unit) => findSides(unit, id, against));
  if (isRefusal(found)) return found;
  const { own } = found;
  const { header } = own.document;
  const isDraft = isIn(INVOICE, 'draft', header.invoice_status) && own.inputs !== null;
  if (found.other === null && !isDraft) {
    const problem = 'the invoice was neither recalculated nor is it a draft; name another one';
    return new Refusal('invalid_operation', `${problem} with against`);
  }
  const row = { ...header, id } as InvoiceRow;
  const other = found.other ?? (await computeNow(dependencies, occasion, row));
  if (isRefusal(other)) return other;
  const [from, to] = ordered({ own, other });
  const sideOf = ({ document, inputs }: Side) => ({ lines: document.lines, inputs });
  const byCoupons = hasOtherCoupons(from, to);
  const sides = { from: sideOf(from), to: sideOf(to), hasOtherCoupons: byCoupons };
  return {
    from: from.document,
    to: to.document,
    lines: diffLines(sides),
    causes: [
      ...(byCoupons ? ['coupon' as const] : []),
      ...(hasOtherTaxes(from, to) ? ['tax' as const] : []),
    ],
  };
}
