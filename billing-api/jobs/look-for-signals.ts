import { z } from 'zod';
import { HOUR_MS, type InstantMs } from '../../contract/instant.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { defineJob, type JobRun } from '../../sql/jobs/job.js';
import { lookAtPayments } from '../money/gateway-payments/look-at-payments.js';
import { readSignals } from '../money/gateway-payments/read-signals.js';
import {
  findGatewayConnection,
  findGatewayEnvironments,
  openGateway,
} from '../money/gateways/open-gateway.js';
import { TAKE_PAYMENT } from '../money/payments/gateway-work.js';
import { retryParked } from '../platform/jobs/retry-job.js';
import { mustRead, mustWrite } from '../records/unit.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/** Takes that are run again in one transaction. */
const TAKES = 100;

async function lookForSignals(run: JobRun, needs: JobNeeds, today: InstantMs): Promise<void> {
  const occasion = occasionOfRun(run);
  const connection = await mustRead(needs, occasion, findGatewayConnection);
  if (connection === null) return;
  const parked = { name: TAKE_PAYMENT.name, limit: TAKES };
  while ((await mustWrite(needs, occasion, (unit) => retryParked(unit, parked))) === TAKES) {
    run.signal.throwIfAborted();
  }
  const gateway = await openGateway(needs, connection);
  const { signal, progressed } = run;
  const look = { needs, occasion, connection, gateway, signal, progressed, log: needs.log };
  await lookAtPayments(look);
  await readSignals(look, today);
}

/**
 * Looks at the gateway of an environment for what became of payments and did not reach us: charges
 * and pages of which nothing was heard, and signals that were lost. Takes that were parked are run
 * again (docs/domain.md 17.9).
 */
export const LOOK_FOR_SIGNALS = defineJob({
  name: 'look-for-signals',
  // When it was queued, by the time that the gateway has too, whatever a test clock shows.
  input: z.object({ today: z.number() }),
  onceWhileWaiting: true,
  withLease: async ({ input, run }, needs: JobNeeds) => {
    await lookForSignals(run, needs, input.today);
    return {};
  },
});

/** Every hour, queues the look of each environment that has a gateway. */
export const QUEUE_LOOKS = defineJob({
  name: 'queue-look-for-signals',
  schedule: { everyMs: HOUR_MS },
  input: z.object({}),
  withLease: async ({ run }, needs: JobNeeds) => {
    for (const environment of await findGatewayEnvironments(needs.database)) {
      run.signal.throwIfAborted();
      await mustWrite(needs, occasionOfRun(run, environment), (unit) =>
        enqueue(unit, LOOK_FOR_SIGNALS, { input: { today: run.now } }),
      );
    }
    return {};
  },
});
