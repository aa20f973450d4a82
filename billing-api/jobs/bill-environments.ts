import { z } from 'zod';
import { MINUTE_MS } from '../../contract/instant.js';
import { enqueue } from '../../sql/jobs/enqueue.js';
import { defineJob } from '../../sql/jobs/job.js';
import { findEnvironmentsDue } from '../runs/environments-due.js';
import { mustWrite } from '../records/unit.js';
import { BILL_ENVIRONMENT } from './bill-environment.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

/**
 * Every two minutes, queues the billing of each environment in which something is due. What is due
 * follows from the records alone: a look that is missed, late or made twice changes nothing.
 */
export const BILL_ENVIRONMENTS = defineJob({
  name: 'bill-environments',
  schedule: { everyMs: 2 * MINUTE_MS },
  input: z.object({}),
  withLease: async ({ run }, needs: JobNeeds) => {
    for (const environment of await findEnvironmentsDue(needs.database, run.now)) {
      run.signal.throwIfAborted();
      await mustWrite(needs, occasionOfRun(run, environment), (unit) =>
        enqueue(unit, BILL_ENVIRONMENT, { input: {} }),
      );
    }
    return {};
  },
});
