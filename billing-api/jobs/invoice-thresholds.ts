import { z } from 'zod';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { defineJob } from '../../sql/jobs/job.js';
import {
  INVOICE_THRESHOLD,
  invoiceThreshold,
  invoiceThresholds,
} from '../runs/invoice-thresholds.js';
import type { JobActor, Occasion } from '../records/occasion.js';
import { mustWrite } from '../records/unit.js';
import type { Doing } from './due-steps.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/**
 * Invoices one subscription that has reached its threshold and could not be invoiced with the
 * others. It is tried again, and parked with its reason after the last try.
 */
export const INVOICE_THRESHOLD_ONE = defineJob({
  name: INVOICE_THRESHOLD,
  input: z.object({ subscriptionId: z.string() }),
  key: ({ subscriptionId }) => subscriptionId,
  onceWhileWaiting: true,
  withLease: async ({ input, run }, needs: JobNeeds) => {
    await invoiceThreshold(needs, occasionOfRun(run), input.subscriptionId);
    return {};
  },
});

/** A page of `invoiceThresholds`; each that fails is set aside for a job of its own. */
export async function invoiceThresholdPage(
  needs: JobNeeds,
  occasion: Occasion<JobActor>,
  after: string | null,
): Promise<string | null> {
  const { last, failed } = await invoiceThresholds(needs, occasion, after);
  if (failed.length === 0) return last;
  for (const { subscriptionId: id, reason: error } of failed)
    needs.log.error({ id, error }, 'a threshold invoice could not be made');
  await mustWrite(needs, occasion, async (unit) => {
    for (const { subscriptionId } of failed)
      await enqueue(unit, INVOICE_THRESHOLD_ONE, { input: { subscriptionId } });
  });
  return last;
}

/** Invoices all subscriptions of an environment that have reached their thresholds by now. */
export async function invoiceAllThresholds({
  needs,
  occasion,
  signal,
}: Pick<Doing, 'needs' | 'occasion' | 'signal'>): Promise<void> {
  let after: string | null = null;
  do {
    signal.throwIfAborted();
    after = await invoiceThresholdPage(needs, occasion, after);
  } while (after !== null);
}
