import { z } from 'zod';
import { defineJob } from '../../sql/jobs/job.js';
import { SYNC_INVOICE } from '../outward/integrations/start-sync.js';
import { syncInvoice } from '../outward/integrations/sync-invoice.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/** Sends one invoice to a provider or asks for it, again and again until the provider answers. */
export const SYNC_ONE_INVOICE = defineJob({
  name: SYNC_INVOICE.name,
  input: z.object({
    invoiceId: z.string(),
    connectionId: z.string(),
    method: z.enum(['push', 'pull']),
    workflowId: z.string(),
  }),
  key: SYNC_INVOICE.keyOf,
  onceWhileWaiting: SYNC_INVOICE.onceWhileWaiting,
  withLease: async ({ input, run }, needs: JobNeeds) => {
    await syncInvoice(needs, occasionOfRun(run), input);
    return {};
  },
});
