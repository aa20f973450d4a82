import { DependencyError } from '../../../runtime/failure.js';
import type { Occasion, RequestActor } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
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
  /** Computes the drafts that charge a subscription again. */
  readonly recomputeDraftsOf: (
    dependencies: BillingDependencies,
    occasion: Occasion<RequestActor>,
    subscriptionId: string,
  ) => Promise<void>;
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

/**
 * The same for an operation that changes the lines of a subscription. The drafts that charge it are
 * computed again at once, so that what an invoice which follows leaves out does not depend on when
 * the job of the night comes (docs/domain.md 27).
 * @param subscriptionIdOf of its result; null where it has changed no line.
 */
export async function changeLinesOf<D extends RunningDependencies, W, T>(
  operation: (dependencies: D, occasion: Occasion, wanted: W) => Promise<T | Refusal>,
  subscriptionIdOf: (result: T) => string | null,
  ...[dependencies, occasion, wanted]: [D, Occasion<RequestActor>, W]
): Promise<T | Refusal> {
  const result = await billEndedFirst(operation, dependencies, occasion, wanted);
  const id = isRefusal(result) ? null : subscriptionIdOf(result);
  if (id === null) return result;
  try {
    await dependencies.recomputeDraftsOf(dependencies, occasion, id);
  } catch (error) {
    // The change is done, and its answer must say so; the drafts are computed by the job.
    if (!(error instanceof DependencyError)) throw error;
  }
  return result;
}
