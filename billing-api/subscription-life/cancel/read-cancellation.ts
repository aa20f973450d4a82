import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { isIn, problemOfMove } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { unsplitPeriodAt } from '../../domain/periods/ledger-periods.js';
import { cancellationDate, type CancellationRequest } from '../../domain/periods/cancellation.js';
import { targetRefusal, type ChangeTarget } from '../../records/change-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { accept, invalid, Refusal } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { endedPeriodRefusal } from '../../subscriptions/ended-period.js';
import { refuseInherited } from '../../subscriptions/refuse-inherited.js';
import type { CancellationType, CancelSubscriptionBody } from './cancel-dto.js';
import type { ReadEnding } from './final-invoice.js';

/** A request to cancel that can be carried out; an immediate one is billed up to its instant. */
export type Cancellation = ReadEnding & {
  readonly type: CancellationType;
  readonly reason: string | null;
  /** Whether what is unused of charges in advance is given back. */
  readonly isCredited: boolean;
};

/** What is cancelled only immediately. */
const AT_ONCE = ['draft', 'incomplete', 'paused'];

/** What stands in the way of a cancellation of this type; null when nothing does. */
function stateRefusal(row: SubscriptionRow, type: CancellationType): Refusal | null {
  const inherited = refuseInherited(row, 'is not cancelled by itself');
  if (inherited !== null) return inherited;
  const problem = problemOfMove(SUBSCRIPTION, 'cancel', row.subscription_status);
  if (problem !== null) return new Refusal('invalid_operation', problem);
  if (AT_ONCE.includes(row.subscription_status) && type === 'immediate') return null;
  if (!isIn(SUBSCRIPTION, 'running', row.subscription_status)) {
    const only = `a subscription that is ${row.subscription_status} is cancelled only immediately`;
    return new Refusal('invalid_operation', only);
  }
  if (type === 'immediate' || row.cancel_at === null) return null;
  const pending = `the subscription ends at ${formatInstant(row.cancel_at)} already`;
  return new Refusal('invalid_operation', pending);
}

/** The instant that a request names; null when it names none. */
function readCancelAt(body: CancelSubscriptionBody): InstantMs | null | Refusal {
  const reader = new MemberReader();
  const cancelAtMs = reader.instant('cancel_at', body.cancel_at);
  return reader.refusal() ?? cancelAtMs;
}

/** Why a subscription cannot end before its running period; null when it can. */
function backdatedProblem({ subscription: row, terms }: BilledSubscription, atMs: InstantMs) {
  if (atMs >= row.current_period_start || row.subscription_status === 'draft') return null;
  const unsplit = unsplitPeriodAt(terms, row.current_period_start);
  if (unsplit === null || atMs <= unsplit.startMs) return null;
  const closed = formatInstant(row.current_period_start);
  return `must not be before the last threshold invoice of the running period, ${closed}, which has billed the usage until then`;
}

/** Whether the period at an instant has begun, and the job has not recorded it yet. */
function isLate(row: SubscriptionRow, { type }: CancellationRequest, atMs: InstantMs): boolean {
  const isRunning = isIn(SUBSCRIPTION, 'running', row.subscription_status);
  return type === 'immediate' && isRunning && atMs > row.current_period_end;
}

/** The instant of a cancellation. A draft was never charged, whenever it was to begin. */
function dateOf(
  loaded: BilledSubscription,
  request: CancellationRequest,
  now: InstantMs,
): InstantMs | Refusal {
  const { subscription: row } = loaded;
  if (row.subscription_status === 'draft') return Math.max(now, row.start_date);
  const dates = { startMs: row.start_date, currentEndMs: row.current_period_end };
  const { atMs, problem } = cancellationDate(dates, request, now);
  if (problem !== null) return invalid({ [problem.member]: problem.text });
  const backdated = backdatedProblem(loaded, atMs);
  if (backdated !== null) return invalid({ cancel_at: backdated });
  return isLate(row, request, atMs) ? endedPeriodRefusal(row) : atMs;
}

/** Reads a request to cancel as it would be carried out at the instant of the unit. */
export async function readCancellation(
  unit: ReadUnit,
  target: ChangeTarget,
  body: CancelSubscriptionBody,
): Promise<Cancellation> {
  const { cancellation_type: type = 'immediate', reason = null } = body;
  const cancelAtMs = accept(readCancelAt(body));
  const loaded = await loadBilledSubscription(unit, target.id);
  const { subscription: row } = loaded;
  accept(stateRefusal(row, type) ?? targetRefusal(SUBSCRIPTIONS, row, target));
  const atMs = accept(dateOf(loaded, { type, cancelAtMs }, unit.now));
  return cancellationOf({ type, atMs, reason, loaded }, body);
}

function cancellationOf(
  base: Omit<Cancellation, 'final' | 'isCredited'>,
  { invoice_policy: policy, proration_behavior: proration }: CancelSubscriptionBody,
): Cancellation {
  // The invoice of its parent bills the last period of a grouped child (docs/domain.md 29.2).
  const isGrouped = base.loaded.subscription.subscription_type === 'grouped_invoicing';
  const isBilled = !isGrouped && base.type === 'immediate' && policy !== 'skip';
  const isCredited = proration === 'create_prorations';
  return { ...base, isCredited, final: isBilled ? {} : null };
}
