import type { Occasion, RequestActor } from '../../records/occasion.js';
import type { Refusal } from '../../records/refusal.js';
import { EndedPeriod } from '../../subscriptions/ended-period.js';
import type { BillingDependencies } from './compute-tasks.js';

/** What operations on a running subscription need. */
export type RunningDependencies = BillingDependencies & {
  /** Bills the periods of a subscription that have ended; handed in, since the run comes last. */
  readonly billEndedPeriods: (
    dependencies: BillingDependencies,
    occasion: Occasion<RequestActor>,
    subscriptionId: string,
  ) => Promise<Refusal | null>;
};

/**
 * Carries out an operation on a subscription. When it is refused because a period has ended that
 * the job has not billed yet, as after a start in the past, the periods that have ended are billed
 * first; then the operation is tried once more (docs/domain.md 24.3).
 */
export async function billEndedFirst<D extends RunningDependencies, W, T>(
  operation: (dependencies: D, occasion: Occasion, wanted: W) => Promise<T | Refusal>,
  ...[dependencies, occasion, wanted]: [D, Occasion<RequestActor>, W]
): Promise<T | Refusal> {
  const result = await operation(dependencies, occasion, wanted);
  if (!(result instanceof EndedPeriod)) return result;
  const { subscriptionId } = result;
  const refusal = await dependencies.billEndedPeriods(dependencies, occasion, subscriptionId);
  return refusal ?? operation(dependencies, occasion, wanted);
}
