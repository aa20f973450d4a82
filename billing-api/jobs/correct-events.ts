import { z } from 'zod';
import { defineJob } from '../../sql/jobs/job.js';
import {
  FOLLOW_CORRECTION,
  PREPARE_CORRECTION,
  REVERT_BACKFILL,
} from '../corrections/correction-operations.js';
import { followCorrection } from '../corrections/follow-correction.js';
import { prepareCorrection } from '../corrections/prepare-correction.js';
import { revertBackfill } from '../corrections/revert-backfill.js';
import { occasionOfRun, type JobNeeds } from './job-needs.js';

const input = z.object({ correctionId: z.string() });

/** Finds the events of a correction, and what they touch. */
const PREPARE = defineJob({
  ...PREPARE_CORRECTION,
  key: PREPARE_CORRECTION.keyOf,
  input,
  withLease: async ({ input: of, run }, needs: JobNeeds) => {
    await prepareCorrection(needs, occasionOfRun(run), of);
    return {};
  },
});

/** Withdraws the events of a backfill. */
const REVERT = defineJob({
  ...REVERT_BACKFILL,
  key: REVERT_BACKFILL.keyOf,
  input,
  withLease: async ({ input: of, run }, needs: JobNeeds) => {
    await revertBackfill(needs, occasionOfRun(run), of);
    return {};
  },
});

/** Lets drafts and final invoices follow a correction that was applied or reverted. */
const FOLLOW = defineJob({
  ...FOLLOW_CORRECTION,
  key: FOLLOW_CORRECTION.keyOf,
  input,
  withLease: async ({ input: of, run }, needs: JobNeeds) => {
    const failed = await followCorrection(needs, occasionOfRun(run), of);
    for (const one of failed) needs.log.error(one, 'a draft could not be computed again');
    return {};
  },
});

export const CORRECTION_JOBS = [PREPARE, REVERT, FOLLOW];
