import { assertPresent } from '../../../runtime/failure.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { updateRecords, moveRecords } from '../../records/change-records.js';
import { computeThenStore } from '../../records/compute-then-store.js';
import { readRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import { isRefusal, Refusal } from '../../records/refusal.js';
import { readUnit, type Unit } from '../../records/unit.js';
import type { InvoiceDocument } from '../../documents/invoice-document.js';
import {
  computeTasks,
  type BillingDependencies,
  type ComputedTask,
} from '../drafts/compute-tasks.js';
import { documentOf } from '../../documents/store/document-parts.js';
import { chargesNothing } from '../finalize/finalize-drafts.js';
import { isLeftAsItIs, type FinalDraft } from '../../documents/store/final-draft.js';
import { replaceComputations } from '../drafts/hold-drafts.js';
import { taskOfInvoice } from '../drafts/task-of-invoice.js';

/** Why an invoice cannot be computed again; null when it can. */
function problemOf(row: InvoiceRow): string | null {
  const { invoice_status: status, invoice_type: type, billing_reason: reason } = row;
  if (!isIn(INVOICE, 'computed', status)) {
    return `the invoice is ${status}; only one that is DRAFT or SKIPPED is computed again`;
  }
  if (type !== 'SUBSCRIPTION') return `the invoice is ${type}, so its amounts are not computed`;
  if (reason === 'MANUAL') return 'the lines of the invoice were given, so they are not computed';
  return row.is_manually_edited ? 'lines of the invoice were changed by hand, and they stay' : null;
}

async function compute(
  dependencies: BillingDependencies,
  occasion: Occasion,
  id: string,
): Promise<ComputedTask | Refusal> {
  const row = await readUnit(dependencies, occasion, (unit) => readRecord(unit, INVOICES, id));
  if (isRefusal(row)) return row;
  const problem = problemOf(row);
  if (problem !== null) return new Refusal('invalid_operation', problem);
  const { computed, refused } = await computeTasks(dependencies, occasion, () =>
    Promise.resolve([taskOfInvoice(row)]),
  );
  const [refusal] = refused;
  if (refusal !== undefined) return refusal.refusal;
  return assertPresent(computed[0], 'the computed invoice');
}

/** What a computation makes of the state (docs/domain.md 5.2). */
function stateAfter(draft: FinalDraft): InvoiceRow['invoice_status'] {
  // The computation that finalizes decides about the invoice of a period.
  if (draft.row.billing_reason === 'SUBSCRIPTION_CYCLE') {
    return chargesNothing(draft) ? draft.row.invoice_status : 'DRAFT';
  }
  return chargesNothing(draft) ? 'SKIPPED' : 'DRAFT';
}

/**
 * Stores what locked drafts and skipped invoices were computed to, with the state that follows.
 * One that came to the same result again is left as it is: no new version, no event.
 */
export async function storeRecomputed(
  unit: Unit,
  drafts: readonly FinalDraft[],
): Promise<readonly InvoiceRow[]> {
  const rows: InvoiceRow[] = [];
  for (const draft of drafts) {
    const { row, computed: patch } = draft;
    const to = stateAfter(draft);
    const change = { changes: [{ row, patch }], told: () => null, lifecycle: INVOICE };
    const isSame = to === row.invoice_status;
    if (isSame && isLeftAsItIs(draft)) {
      rows.push(row);
      continue;
    }
    const stored = isSame
      ? await updateRecords(unit, INVOICES, change.changes)
      : await moveRecords(unit, INVOICES, {
          ...change,
          ...(to === 'DRAFT' ? { move: 'reopen' as const, to } : { move: 'skip' as const, to }),
        });
    rows.push(assertPresent(stored[0], 'the recomputed invoice'));
  }
  return rows;
}

/**
 * POST /invoices/{id}/recompute: computes a draft or a skipped invoice again, in its place. One
 * that was skipped and has a charge now is a draft again.
 */
export function recomputeInvoice(
  dependencies: BillingDependencies,
  occasion: Occasion,
  id: string,
): Promise<InvoiceDocument | Refusal> {
  return computeThenStore<ComputedTask, FinalDraft, InvoiceDocument>(dependencies, occasion, {
    what: 'the invoice',
    compute: () => compute(dependencies, occasion, id),
    lockAndCompare: async (unit, computed) => {
      const [draft] = await replaceComputations(unit, [computed], INVOICE.groups.computed);
      return draft ?? null;
    },
    store: async (unit, _computed, draft) => {
      const rows = await storeRecomputed(unit, [draft]);
      return documentOf(assertPresent(rows[0], 'the invoice'), draft.parts);
    },
  });
}
