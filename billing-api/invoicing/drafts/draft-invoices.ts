import type { InstantMs } from '../../../contract/instant.js';
import { zip } from '../../../runtime/failure.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import type { InvoiceResult } from '../../domain/invoice/invoice.js';
import { createRecords } from '../../records/create-record.js';
import type { Unit } from '../../records/unit.js';
import { documentOfComputed } from '../compute/document-of-computed.js';
import type { ComputedTask } from './compute-tasks.js';
import { computationOf, storeComputations } from '../../documents/store/computations.js';
import {
  identified,
  insertDocumentParts,
  type StoredParts,
} from '../../documents/store/document-parts.js';
import type { HeldSubscription } from './revisions.js';

/** A computed invoice that is stored as a draft. */
export type NewDraft = {
  readonly computed: ComputedTask;
  readonly held: HeldSubscription;
  /** From when on a job finalizes it; null when only a call does. */
  readonly finalizeAt: InstantMs | null;
};

/** A stored invoice with its parts. */
export type StoredInvoice = {
  readonly row: InvoiceRow;
  readonly parts: StoredParts;
  /** What it was computed to just now, without wallets; absent where it was not computed. */
  readonly priced?: InvoiceResult;
};

/**
 * Stores computed invoices as drafts, each with what it was computed from. Their subscriptions are
 * held, at most one invoice of each. One statement for each kind of record.
 */
export async function storeDrafts(
  unit: Unit,
  drafts: readonly NewDraft[],
): Promise<readonly StoredInvoice[]> {
  const made = drafts.map(({ computed, held, finalizeAt }) => {
    const { header, ...parts } = documentOfComputed(computed);
    const id = unit.newId(INVOICES.idPrefix);
    const billing_sequence = held.revision.lastSequence + 1;
    const row = { ...header, id, billing_sequence, finalize_at: finalizeAt };
    const priced = computed.invoice;
    const computation = computationOf(id, computed);
    return { row, parts: identified(unit, id, parts), computation, priced };
  });
  const rows = await createRecords(unit, INVOICES, {
    items: made.map(({ row }) => row),
    isBulk: false,
  });
  await insertDocumentParts(
    unit,
    made.map(({ parts }) => parts),
  );
  await storeComputations(
    unit,
    made.map(({ computation }) => computation),
  );
  return zip(rows, made).map(([row, { parts, priced }]) => ({ row, parts, priced }));
}
