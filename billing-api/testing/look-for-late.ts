import { createId } from '../../runtime/ids.js';
import { lookForLateUsage } from '../invoicing/late-usage/look-for-late-usage.js';
import { billingNeeds, type BilledWorld } from './bill-environment.js';

/** Looks for late usage in one environment, as the job does for all. */
export function lookForLate(world: BilledWorld): Promise<void> {
  const actor = { kind: 'job', job: 'look-for-late-usage', runId: 'test' } as const;
  return lookForLateUsage(
    { ...billingNeeds(world), createId },
    {
      occasionOf: (environment) => ({ environment, actor }),
      environment: world.environment,
    },
  );
}
