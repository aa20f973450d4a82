import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { lockRecordsForChange } from '../../records/find-record.js';
import type { Unit } from '../../records/unit.js';
import { documentOfComputed } from '../compute/document-of-computed.js';
import type { ComputedTask } from './compute-tasks.js';
import {
  computationOf,
  digestOfResult,
  storeComputations,
} from '../../documents/store/computations.js';
import {
  identified,
  replaceDocumentParts,
  type StoredParts,
} from '../../documents/store/document-parts.js';
import { asKept, findDigests } from '../../documents/store/kept-parts.js';
import { computedMembers, type FinalDraft } from '../../documents/store/final-draft.js';
import { storedIdsOf } from './invoice-task.js';
import { holdUnchanged } from './revisions.js';

/**
 * Locks stored invoices that were computed again, with their subscriptions, and puts the new parts
 * and the new computation in the place of those before. Invoices that have changed since they were
 * read, or are in none of these states any more, are left out and stay as they are.
 */
export async function replaceComputations(
  unit: Unit,
  invoices: readonly ComputedTask[],
  states: readonly InvoiceRow['invoice_status'][],
): Promise<readonly FinalDraft[]> {
  const subscriptions = await holdUnchanged(
    unit,
    invoices.map(({ query }) => query),
  );
  const ids = storedIdsOf(invoices.map(({ query }) => query.task));
  const rows = await lockRecordsForChange(unit, INVOICES, ids);
  const held = invoices.flatMap((computed) => {
    const { invoiceId, subscriptionId } = computed.query.task;
    const row = invoiceId === null ? undefined : rows.get(invoiceId);
    const isHeld = row !== undefined && subscriptions.has(subscriptionId);
    return isHeld && states.includes(row.invoice_status) ? [{ computed, row }] : [];
  });
  const documents = held.map(({ computed, row }) => {
    const { header, ...parts } = documentOfComputed(computed);
    const members = computedMembers(header);
    return { row, computed: members, parts: identified(unit, row.id, parts), invoice: computed };
  });
  if (documents.length === 0) return [];
  const kept = await storeChangedParts(unit, documents);
  return documents.map(({ row, computed, parts, invoice: { invoice: priced } }) => {
    const isRepeated = kept.has(row.id);
    return { row, computed, parts: kept.get(row.id) ?? parts, isRepeated, priced };
  });
}

type Recomputed = FinalDraft & { readonly invoice: ComputedTask };

/**
 * Stores the parts and the computations of those that computed to something else than before, which
 * are few: the others stay as they are, with what they were computed from.
 * @returns the parts of these others, as they are stored.
 */
async function storeChangedParts(
  unit: Unit,
  documents: readonly Recomputed[],
): Promise<ReadonlyMap<string, StoredParts>> {
  const digests = await findDigests(
    unit,
    documents.map(({ row }) => row.id),
  );
  const isSame = ({ row, invoice }: Recomputed): boolean =>
    digests.get(row.id) === digestOfResult(invoice.invoice);
  const same = documents.filter(isSame);
  const changed = documents.filter((document) => !same.includes(document));
  if (changed.length > 0) {
    await replaceDocumentParts(
      unit,
      changed.map(({ row }) => row.id),
      changed.map(({ parts }) => parts),
    );
    await storeComputations(
      unit,
      changed.map(({ invoice, row }) => computationOf(row.id, invoice)),
    );
  }
  return asKept(unit, new Map(same.map(({ row, parts }) => [row.id, parts])));
}
