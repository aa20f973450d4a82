import { sql } from 'slonik';
import { z } from 'zod';
import { assertPresent } from '../../../runtime/failure.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { problemOfMove, isIn } from '../../domain/lifecycle/lifecycle.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import type { ChangeTarget } from '../../records/change-record.js';
import { targetRefusal } from '../../records/change-record.js';
import { computeThenStore } from '../../records/compute-then-store.js';
import { isOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { lockRecord, readRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import { accept, isRefusal, Refusal, Refused } from '../../records/refusal.js';
import { readUnit, type ReadUnit, type Unit } from '../../records/unit.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import {
  computeTasks,
  type BillingDependencies,
  type ComputedTask,
} from '../drafts/compute-tasks.js';
import { documentOf } from '../../documents/store/document-parts.js';
import { findMeterWaits, refusalOfWait } from '../finalize/awaited-meters.js';
import { finalizeDrafts, type Finalized } from '../finalize/finalize-drafts.js';
import type { FinalDraft } from '../../documents/store/final-draft.js';
import { replaceComputations } from '../drafts/hold-drafts.js';
import { readDocument } from '../../documents/store/read-documents.js';
import { taskOfInvoice } from '../drafts/task-of-invoice.js';
import { reviseDrafts } from '../drafts/revise-drafts.js';

/** A call that wants an invoice to be final. */
export type FinalizingCall = {
  readonly target: ChangeTarget;
  /** How long ago the request came in. */
  readonly ageMs: () => number;
};

/** A draft that is ready, or the invoice that somebody else has made of it meanwhile. */
type Held =
  | { readonly draft: FinalDraft; readonly winner: null }
  | { readonly draft: null; readonly winner: InvoiceDocument };

/** A draft as it was read, and what it computes to; null when its lines were changed by hand. */
type Computed = { readonly row: InvoiceRow; readonly invoice: ComputedTask | null };

const isDecided = ({ invoice_status: status }: InvoiceRow): boolean =>
  isIn(INVOICE, 'decided', status);

/** Whether a draft was finalized or skipped while the call was under way, by whomever. */
function wasDecidedMeanwhile(
  { tx }: ReadUnit,
  { target, ageMs }: FinalizingCall,
): Promise<boolean> {
  return tx.exists(sql.type(z.unknown())`
    SELECT FROM invoices
    WHERE id = ${target.id} AND ${isOfEnvironment} AND ${rowIsIn(['invoice_status'], INVOICE, 'decided')}
      AND decided_at >= clock_timestamp() - make_interval(secs => ${ageMs() / 1000})`);
}

/** The draft; or the invoice that somebody has made of it since the call came in. */
async function findDraft(
  unit: ReadUnit,
  call: FinalizingCall,
): Promise<InvoiceRow | InvoiceDocument> {
  const { target } = call;
  const found = await readRecord(unit, INVOICES, target.id);
  const problem = problemOfMove(INVOICE, 'finalize', found.invoice_status);
  if (problem === null) return accept(targetRefusal(INVOICES, found, target) ?? found);
  if (await wasDecidedMeanwhile(unit, call)) return readDocument(unit, found.id);
  throw new Refused(new Refusal('invalid_operation', problem));
}

async function computeDraft(
  dependencies: BillingDependencies,
  occasion: Occasion,
  call: FinalizingCall,
): Promise<Computed | InvoiceDocument | Refusal> {
  const row = await readUnit(dependencies, occasion, (unit) => findDraft(unit, call));
  if (isRefusal(row) || 'header' in row) return row;
  const task = row.is_manually_edited ? null : taskOfInvoice(row);
  if (task === null) return { row, invoice: null };
  const { computed, refused } = await computeTasks(dependencies, occasion, () =>
    Promise.resolve([task]),
  );
  const [refusal] = refused;
  if (refusal !== undefined) return refusal.refusal;
  return { row, invoice: assertPresent(computed[0], 'the computed draft') };
}

/**
 * Locks a draft, with what it has computed to; null when it has changed since, or was not computed.
 * One that waits for a meter is refused (docs/domain.md 7.4).
 */
async function replaceDraft(unit: Unit, invoice: ComputedTask | null): Promise<FinalDraft | null> {
  if (invoice === null) return null;
  const [draft] = await replaceComputations(unit, [invoice], INVOICE.groups.draft);
  if (draft === undefined) return null;
  const wait = (await findMeterWaits(unit, [invoice]))(invoice);
  if (wait === null) return draft;
  return accept(wait.kind === 'backfilled' ? refusalOfWait(wait) : null);
}

/** Locks the draft; null when it, or what it is computed from, has changed since it was read. */
async function holdDraft(unit: Unit, found: Computed | InvoiceDocument): Promise<Held | null> {
  if ('header' in found) return { draft: null, winner: found };
  const { row: read, invoice } = found;
  const computed = await replaceDraft(unit, invoice);
  if (computed !== null) return { draft: computed, winner: null };
  const row = await lockRecord(unit, INVOICES, read.id);
  if (row !== null && isDecided(row)) {
    const winner = await readDocument(unit, row.id);
    return { draft: null, winner };
  }
  if (row?.version !== read.version || invoice !== null) return null;
  const [revised] = await reviseDrafts(unit, [row]);
  return { draft: assertPresent(revised, 'the draft'), winner: null };
}

function onlyOf({ finalized, skipped }: Finalized): InvoiceDocument {
  const { row, parts } = assertPresent([...finalized, ...skipped][0], 'the invoice');
  return documentOf(row, parts);
}

/**
 * POST /invoices/{id}/finalize: computes a draft once more, and gives it its number; one that
 * charges nothing is skipped. Lines that were changed by hand stay. Of several calls and jobs at
 * once one finalizes; the others answer with the invoice that it made, also those that were looked
 * at only when it was made. A call that came in later is refused.
 */
export function finalizeInvoice(
  dependencies: BillingDependencies,
  occasion: Occasion,
  call: FinalizingCall,
): Promise<InvoiceDocument | Refusal> {
  return computeThenStore<Computed | InvoiceDocument, Held, InvoiceDocument>(
    dependencies,
    occasion,
    {
      what: 'the invoice',
      compute: () => computeDraft(dependencies, occasion, call),
      lockAndCompare: holdDraft,
      store: async (unit, found, { draft, winner }) => {
        if (draft === null) return winner;
        const known = 'header' in found ? undefined : found.invoice?.query.config;
        const config = known ?? (await findInvoiceConfig(unit));
        const done = await finalizeDrafts(unit, config, [draft]);
        return onlyOf(done);
      },
    },
  );
}
