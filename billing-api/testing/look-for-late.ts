import { createId } from '../../runtime/ids.js';
import { lookForLateUsage } from '../invoicing/late-usage/look-for-late-usage.js';
import { billingNeeds, type BilledWorld } from './bill-environment.js';

/** Looks for late usage in one environment, as the job does for all; or in all of them. */
export function lookForLate(world: BilledWorld, ofAll = false): Promise<void> {
  const actor = { kind: 'job', job: 'look-for-late-usage', runId: 'test' } as const;
  return lookForLateUsage(
    { ...billingNeeds(world), createId },
    {
      occasionOf: (environment) => ({ environment, actor }),
      environment: ofAll ? null : world.environment,
    },
  );
}
