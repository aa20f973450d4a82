import { appendRow, isOver } from '../../domain/periods/ledger-rows.js';
import { lastRecorded } from '../../domain/periods/period-ledger.js';
import type { ReadUnit } from '../../records/unit.js';
import { loadBilledSubscriptions } from '../../subscriptions/loaded-subscription.js';
import type { InvoiceTask } from '../../invoicing/drafts/invoice-task.js';

/**
 * What is billed when the trials of these subscriptions end: their first periods in advance; where
 * none follows, nothing (docs/domain.md 22.4).
 */
export async function tasksAfterTrials(
  unit: ReadUnit,
  ids: readonly string[],
): Promise<ReadonlyMap<string, InvoiceTask>> {
  const loaded = await loadBilledSubscriptions(unit, ids);
  const tasks = [...loaded].flatMap(([subscriptionId, { terms }]) => {
    if (isOver(terms)) return [];
    const { startMs, endMs } = lastRecorded(appendRow(terms));
    const task = { subscriptionId, period: { startMs, endMs }, invoiceId: null };
    return [[subscriptionId, { ...task, reason: 'SUBSCRIPTION_TRIAL_END' }] as const];
  });
  return new Map(tasks);
}
