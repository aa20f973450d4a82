import { INVOICE } from '../domain/lifecycle/invoice-lifecycle.js';
import type { InvoiceRow } from '../declarations/invoices/invoice.resource.js';
import { findInvoiceConfig } from '../platform/settings/invoice-config.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { accept } from '../records/refusal.js';
import { mustRead, mustWrite, type ReadUnit, type Unit } from '../records/unit.js';
import {
  computeTasks,
  type BillingDependencies,
  type ComputedTask,
  type RefusedTask,
} from '../invoicing/drafts/compute-tasks.js';
import { withoutWaits } from '../invoicing/finalize/awaited-meters.js';
import { finalizeDrafts } from '../invoicing/finalize/finalize-drafts.js';
import { replaceComputations } from '../invoicing/drafts/hold-drafts.js';
import type { InvoiceTask } from '../invoicing/drafts/invoice-task.js';
import { reviseDrafts } from '../invoicing/drafts/revise-drafts.js';
import type { DueQuery } from '../due/due-items.js';
import { dueStep } from '../due/due-step.js';
import { FINALIZE_EDITED, findDueDrafts, findEndedPeriods, lockEditedDrafts } from './due-tasks.js';
import { renewSubscriptions } from '../subscription-life/renew/renew-subscriptions.js';

/** What one turn has done. */
export type TurnResult = {
  /** Invoices that were stored or finalized. */
  readonly done: number;
  /** Items that others changed meanwhile; they are due again. */
  readonly overtaken: number;
  readonly refused: readonly RefusedTask[];
};

/** One kind of thing that falls due, and what is done about it. */
export type BillingTurn = {
  readonly findDue: (unit: ReadUnit, due: DueQuery) => Promise<readonly InvoiceTask[]>;
  readonly store: (unit: Unit, computed: readonly ComputedTask[]) => Promise<number>;
};

/**
 * The earliest ended period of each subscription that is to be renewed: a draft of its invoice, and
 * the period that follows. Subscriptions with more than one ended period are due again.
 */
export const RENEWAL: BillingTurn = {
  findDue: findEndedPeriods,
  store: async (unit, computed) => {
    const drafts = accept(await renewSubscriptions(unit, computed));
    return drafts.length;
  },
};

/** Drafts whose delay is over: they are computed once more, and finalized or skipped. */
export const FINALIZATION: BillingTurn = {
  findDue: findDueDrafts,
  store: async (unit, computed) => {
    const ready = await withoutWaits(unit, computed);
    const drafts = await replaceComputations(unit, ready, INVOICE.groups.draft);
    const [first] = ready;
    if (first === undefined || drafts.length === 0) return 0;
    const done = await finalizeDrafts(unit, first.query.config, drafts);
    return done.finalized.length + done.skipped.length;
  },
};

/** What is due of a kind now, earliest first. */
export function findDue(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  { findDue: find, due }: BillingTurn & { readonly due: DueQuery },
): Promise<readonly InvoiceTask[]> {
  return mustRead(dependencies, occasion, (unit) => find(unit, due));
}

/**
 * Computes what is due of a kind, and stores it in one transaction.
 * @throws DependencyError when a database fails, and then nothing of the turn is stored.
 */
export async function takeTurn(
  dependencies: BillingDependencies,
  occasion: Occasion<JobActor>,
  { findDue: find, store, due }: BillingTurn & { readonly due: DueQuery },
): Promise<TurnResult> {
  const { computed, refused } = await computeTasks(dependencies, occasion, (unit) =>
    find(unit, due),
  );
  if (computed.length === 0) return { done: 0, overtaken: 0, refused };
  const done = await mustWrite(dependencies, occasion, (unit) => store(unit, computed));
  return { done, overtaken: computed.length - done, refused };
}

async function finalize(unit: Unit, rows: readonly InvoiceRow[]): Promise<void> {
  const drafts = await reviseDrafts(unit, rows);
  await finalizeDrafts(unit, await findInvoiceConfig(unit), drafts);
}

/**
 * Finalizes the drafts that are due and whose lines were changed by hand: these stay as they are,
 * and taxes and sums are computed from them.
 */
export const EDITED_DUE = dueStep({
  job: FINALIZE_EDITED,
  find: lockEditedDrafts,
  idOf: ({ id }) => id,
  settle: finalize,
});
