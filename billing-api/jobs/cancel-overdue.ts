import { z } from 'zod';
import { DependencyError, messageOf } from '../../runtime/failure.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { defineJob } from '../../sql/jobs/job.js';
import {
  CANCEL_OVERDUE,
  cancelOverdue,
  findOverdueSubscriptions,
} from '../subscription-life/cancel/cancel-overdue.js';
import { lookAtPagesOf } from '../money/gateway-payments/look-at-payments.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { mustWrite } from '../records/unit.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/**
 * Cancels a subscription if it is overdue still once the gateway has said whether it was paid by a
 * page meanwhile.
 */
async function cancelUnlessPaid(
  needs: JobNeeds,
  occasion: Occasion<JobActor>,
  subscriptionId: string,
): Promise<void> {
  await lookAtPagesOf(needs, occasion, subscriptionId);
  const due = { limit: 1, only: subscriptionId };
  const [overdue] = await findOverdueSubscriptions(needs, occasion, due);
  if (overdue !== undefined) await cancelOverdue(needs, occasion, overdue);
}

/**
 * Cancels one overdue subscription that the run of its environment could not cancel. It is tried
 * again, and parked with its reason after the last try.
 */
export const CANCEL_OVERDUE_ONE = defineJob({
  name: CANCEL_OVERDUE,
  input: z.object({ subscriptionId: z.string() }),
  key: ({ subscriptionId }) => subscriptionId,
  onceWhileWaiting: true,
  withLease: async ({ input, run }, needs: JobNeeds) => {
    await cancelUnlessPaid(needs, occasionOfRun(run), input.subscriptionId);
    return {};
  },
});

/**
 * Cancels subscriptions whose invoices stay unpaid (docs/domain.md 30.2). One that cannot be
 * cancelled is set aside for a job of its own.
 * @returns whether there may be more.
 */
export async function cancelOverdueSubscriptions(
  needs: JobNeeds,
  occasion: Occasion<JobActor>,
  { limit, signal }: { readonly limit: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const found = await findOverdueSubscriptions(needs, occasion, { limit, only: null });
  for (const { subscription_id: subscriptionId } of found) {
    signal.throwIfAborted();
    try {
      await cancelUnlessPaid(needs, occasion, subscriptionId);
    } catch (error) {
      if (error instanceof DependencyError) throw error;
      const failed = { id: subscriptionId, error: messageOf(error) };
      needs.log.error(failed, 'an overdue subscription could not be cancelled');
      await mustWrite(needs, occasion, (unit) =>
        enqueue(unit, CANCEL_OVERDUE_ONE, { input: { subscriptionId } }),
      );
    }
  }
  return found.length === limit;
}
