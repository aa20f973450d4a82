import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { Occasion } from '../../records/occasion.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { storeAndFinalize } from '../../invoicing/finalize/store-and-finalize.js';
import {
  computeTasks,
  type BillingDependencies,
  type ComputedTask,
} from '../../invoicing/drafts/compute-tasks.js';
import type { StoredInvoice } from '../../invoicing/drafts/draft-invoices.js';
import type { InvoiceTask } from '../../invoicing/drafts/invoice-task.js';
import type { HeldSubscription } from '../../invoicing/drafts/revisions.js';

/** A subscription that ends inside its running period. */
export type Ending = Pick<InvoiceTask, 'unused' | 'isContinued'> & {
  readonly loaded: BilledSubscription;
  readonly atMs: InstantMs;
};

/** Whether something of the running period is billed when it is cut short (docs/domain.md 24.5). */
export function isBilledUntil({ loaded, atMs }: Ending): boolean {
  const { subscription: row } = loaded;
  return isIn(SUBSCRIPTION, 'billed', row.subscription_status) && atMs > row.current_period_start;
}

/**
 * Computes the final invoice of a subscription: what is not billed yet of its running period, up to
 * the instant at which it ends. Null when that charges nothing.
 */
export async function computeFinal(
  dependencies: BillingDependencies,
  occasion: Occasion,
  { loaded, atMs, isContinued = false, unused = [] }: Ending,
): Promise<ComputedTask | null | Refusal> {
  const { id: subscriptionId, current_period_start: startMs } = loaded.subscription;
  const period = { startMs, endMs: atMs };
  const task = { subscriptionId, period, reason: 'SUBSCRIPTION_CYCLE', invoiceId: null } as const;
  const { computed, refused } = await computeTasks(dependencies, occasion, () =>
    Promise.resolve([{ ...task, isContinued, unused, endsAtMs: atMs }]),
  );
  const [refusal] = refused;
  if (refusal !== undefined) return refusal.refusal;
  const final = assertPresent(computed[0], 'the final invoice');
  return final.invoice.lines.length === 0 ? null : final;
}

/** Stores and finalizes the final invoice; null when it charges nothing. */
export async function storeFinal(
  unit: Unit,
  final: ComputedTask,
  held: HeldSubscription,
): Promise<StoredInvoice | null | Refusal> {
  const done = await storeAndFinalize(unit, final, held);
  if (isRefusal(done)) return done;
  return done.finalized[0] ?? null;
}
