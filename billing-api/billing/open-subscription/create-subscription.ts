import type { Caller } from '../../records/caller.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { writeUnit, type WriteDependencies } from '../../records/unit.js';
import type { LoadedSubscription } from '../../subscriptions/loaded-subscription.js';
import { findRelatedRecords } from '../../subscriptions/related-records.js';
import type { CreateSubscriptionBody } from './create-subscription-body.js';
import { storeSubscription } from './store-subscription.js';
import { readSubscriptionBody } from './subscription-command.js';

/**
 * POST /subscriptions: an active subscription with a line item for every price of the plan that
 * matches (docs/domain.md 9.4), oldest price first, and those of its own.
 */
export async function createSubscription(
  dependencies: WriteDependencies,
  caller: Caller,
  body: CreateSubscriptionBody,
): Promise<LoadedSubscription | Refusal> {
  // Read and stored at one instant: what begins with the subscription begins exactly then.
  const now = dependencies.clock.now();
  const command = readSubscriptionBody(body, now);
  if (isRefusal(command)) return command;
  const atOnce = { ...dependencies, clock: { now: () => now } };
  return writeUnit(atOnce, caller, async (unit) => {
    const subscription = await storeSubscription(unit, command);
    if (isRefusal(subscription)) return subscription;
    return { subscription, related: await findRelatedRecords(unit.tx, [subscription]) };
  });
}
