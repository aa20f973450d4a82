import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import type { Occasion } from '../../records/occasion.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { Refused } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import {
  computeTasks,
  type BillingDependencies,
  type ComputedTask,
} from '../../invoicing/drafts/compute-tasks.js';
import type { InvoiceTask } from '../../invoicing/drafts/invoice-task.js';

/** A subscription that ends inside its running period. */
export type Ending = {
  readonly loaded: BilledSubscription;
  readonly atMs: InstantMs;
};

/** An ending with what its final invoice takes; null for one that has none. */
export type ReadEnding = Ending & {
  readonly final: Pick<InvoiceTask, 'unused' | 'isContinued'> | null;
};

/** An ending as it was read, with its final invoice; null where it has none. */
export type ComputedEnding<Read extends ReadEnding> = {
  readonly ending: Read;
  readonly final: ComputedTask | null;
};

/** Whether something of the running period is billed when it is cut short (docs/domain.md 24.5). */
export function isBilledUntil({ loaded, atMs }: Ending): boolean {
  const { subscription: row } = loaded;
  return isIn(SUBSCRIPTION, 'billed', row.subscription_status) && atMs > row.current_period_start;
}

/** The final invoice: what is not billed yet of the running period, up to the end. */
function taskOf({ loaded, atMs, final }: ReadEnding): InvoiceTask | null {
  if (final === null || !isBilledUntil({ loaded, atMs })) return null;
  const { id: subscriptionId, current_period_start: startMs } = loaded.subscription;
  return {
    ...final,
    subscriptionId,
    loaded,
    period: { startMs, endMs: atMs },
    reason: 'SUBSCRIPTION_CYCLE',
    invoiceId: null,
    endsAtMs: atMs,
  };
}

/**
 * Reads how a subscription ends, and computes its final invoice from the same snapshot.
 * @throws Refused
 */
export async function computeEnding<Read extends ReadEnding>(
  dependencies: BillingDependencies,
  occasion: Occasion,
  read: (unit: ReadUnit) => Promise<Read>,
): Promise<ComputedEnding<Read>> {
  const found: { ending: Read | null } = { ending: null };
  const { computed, refused } = await computeTasks(dependencies, occasion, async (unit) => {
    const ending = await read(unit);
    found.ending = ending;
    const task = taskOf(ending);
    return task === null ? [] : [task];
  });
  const ending = assertPresent(found.ending, 'what was read');
  const [refusal] = refused;
  if (refusal !== undefined) throw new Refused(refusal.refusal);
  const [final = null] = computed;
  return { ending, final: final === null || final.invoice.lines.length === 0 ? null : final };
}
