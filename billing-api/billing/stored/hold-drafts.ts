import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { lockRecordsForChange } from '../../records/find-record.js';
import type { Unit } from '../../records/unit.js';
import { documentOfComputed } from '../compute/document-of-computed.js';
import type { ComputedTask } from './compute-tasks.js';
import { computationOf, storeComputations } from './computations.js';
import { identified, replaceDocumentParts } from './document-parts.js';
import { computedMembers, type FinalDraft } from './finalize-drafts.js';
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
  const drafts = held.map(({ computed, row }) => {
    const { header, ...parts } = documentOfComputed(computed);
    return { row, computed: computedMembers(header), parts: identified(unit, row.id, parts) };
  });
  if (drafts.length === 0) return [];
  await replaceDocumentParts(
    unit,
    drafts.map(({ row }) => row.id),
    drafts.map(({ parts }) => parts),
  );
  await storeComputations(
    unit,
    held.map(({ computed, row }) => computationOf(row.id, computed)),
  );
  return drafts;
}
