import { z } from 'zod';
import { defineJob } from '../../sql/jobs/job.js';
import { recalculateInvoice } from '../invoicing/invoices/recalculate-invoice.js';
import { RECALCULATE_INVOICE } from '../invoicing/invoices/start-recalculation.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/** Replaces a voided invoice, as a request has begun it. */
export const RECALCULATE = defineJob({
  name: RECALCULATE_INVOICE.name,
  input: z.object({ invoiceId: z.string(), workflowId: z.string() }),
  key: RECALCULATE_INVOICE.keyOf,
  onceWhileWaiting: RECALCULATE_INVOICE.onceWhileWaiting,
  withLease: async ({ input, run }, needs: JobNeeds) => {
    await recalculateInvoice(needs, occasionOfRun(run), input);
    return {};
  },
});
