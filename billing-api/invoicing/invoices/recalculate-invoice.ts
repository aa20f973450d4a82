import { assertPresent } from '../../../runtime/failure.js';
import { INVOICES, type InvoiceRow } from '../../declarations/invoices/invoice.resource.js';
import { findInvoiceConfig } from '../../platform/settings/invoice-config.js';
import { closeWorkflow, failedBy } from '../../platform/workflows/close-workflow.js';
import { updateRecord } from '../../records/change-record.js';
import { computeThenStore } from '../../records/compute-then-store.js';
import { lockRecord, readRecord } from '../../records/find-record.js';
import type { JobActor, Occasion } from '../../records/occasion.js';
import { isRefusal, Refusal, Refused } from '../../records/refusal.js';
import { mustWrite, readUnit, type Unit } from '../../records/unit.js';
import {
  computeTasks,
  type BillingDependencies,
  type ComputedTask,
} from '../drafts/compute-tasks.js';
import { storeDrafts } from '../drafts/draft-invoices.js';
import { findMeterWaits, refusalOfWait } from '../finalize/awaited-meters.js';
import { asComputed, finalizeDrafts } from '../finalize/finalize-drafts.js';
import { holdUnchanged, type HeldSubscription } from '../drafts/revisions.js';
import { taskOfInvoice } from '../drafts/task-of-invoice.js';
import { recalculationProblem, type RecalculationInput } from './start-recalculation.js';

/** The voided invoice and its subscription, as they were computed from. */
type Held = { readonly voided: InvoiceRow; readonly subscription: HeldSubscription };

async function compute(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  id: string,
): Promise<ComputedTask | Refusal> {
  const row = await readUnit(dependencies, occasion, (unit) => readRecord(unit, INVOICES, id));
  if (isRefusal(row)) return row;
  const problem = recalculationProblem(row);
  if (problem !== null) return new Refusal('invalid_operation', problem);
  const task = { ...taskOfInvoice(row), invoiceId: null };
  const { computed, refused } = await computeTasks(dependencies, occasion, () =>
    Promise.resolve([task]),
  );
  const [refusal] = refused;
  return refusal?.refusal ?? assertPresent(computed[0], 'the computed invoice');
}

async function hold(unit: Unit, id: string, computed: ComputedTask): Promise<Held | null> {
  const wait = (await findMeterWaits(unit, [computed]))(computed);
  if (wait?.kind === 'backfilled') throw new Refused(refusalOfWait(wait));
  if (wait !== null) return null;
  const held = await holdUnchanged(unit, [computed.query]);
  const subscription = held.get(computed.query.task.subscriptionId);
  const voided = await lockRecord(unit, INVOICES, id);
  if (subscription === undefined || voided === null) return null;
  return recalculationProblem(voided) === null ? { voided, subscription } : null;
}

/** Stores and finalizes the replacement, links the voided invoice to it, and ends the workflow. */
async function replace(
  unit: Unit,
  { workflowId }: RecalculationInput,
  { computed, held }: { readonly computed: ComputedTask; readonly held: Held },
): Promise<void> {
  const { voided, subscription } = held;
  const drafts = await storeDrafts(unit, [{ computed, held: subscription, finalizeAt: null }]);
  const replacement = assertPresent(drafts[0], 'the replacement').row.id;
  const patch = { recalculated_invoice_id: replacement };
  await updateRecord(unit, INVOICES, { row: voided, patch });
  const result = { invoice_id: voided.id, recalculated_invoice_id: replacement };
  await closeWorkflow(unit, workflowId, { workflow_status: 'Completed', result });
  const config = await findInvoiceConfig(unit);
  await finalizeDrafts(unit, config, drafts.map(asComputed));
}

/**
 * Carries out a recalculation: all of it in one transaction, or nothing. When the invoice cannot be
 * recalculated, its workflow fails with the reason. Done twice, it changes nothing the second time.
 * @throws DependencyError when a database fails; then it is to be done again.
 */
export async function recalculateInvoice(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  input: RecalculationInput,
): Promise<void> {
  const { invoiceId, workflowId } = input;
  const done = await computeThenStore<ComputedTask, Held, void>(dependencies, occasion, {
    what: 'the invoice',
    compute: () => compute(dependencies, occasion, invoiceId),
    lockAndCompare: (unit, computed) => hold(unit, invoiceId, computed),
    store: (unit, computed, held) => replace(unit, input, { computed, held }),
  });
  if (!isRefusal(done)) return;
  await mustWrite(dependencies, occasion, (unit) =>
    closeWorkflow(unit, workflowId, failedBy(done)),
  );
}
