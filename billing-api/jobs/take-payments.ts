import { z } from 'zod';
import { defineJob } from '../../sql/jobs/job.js';
import { TAKE_PAYMENT } from '../money/payments/gateway-work.js';
import { takeByGateway } from '../money/gateway-payments/take-by-gateway.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/** Takes the money of one payment by the gateway, again and again until it has answered. */
export const TAKE_BY_GATEWAY = defineJob({
  name: TAKE_PAYMENT.name,
  input: z.object({ paymentId: z.string() }),
  key: TAKE_PAYMENT.keyOf,
  onceWhileWaiting: TAKE_PAYMENT.onceWhileWaiting,
  withLease: async ({ input, run }, needs: JobNeeds) => {
    await takeByGateway(needs, occasionOfRun(run), input.paymentId);
    return {};
  },
});
