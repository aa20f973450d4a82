import type { InstantMs } from '../../../contract/instant.js';
import { PAUSES, type PauseRow } from '../../declarations/subscriptions/pause.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { problemOfMove } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { pauseDates } from '../../domain/periods/pause-dates.js';
import { lockForChange, type ChangeTarget } from '../../records/change-record.js';
import { createRecord } from '../../records/create-record.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Occasion } from '../../records/occasion.js';
import { accept, invalid, Refusal, Refused } from '../../records/refusal.js';
import type { Unit, WriteDependencies } from '../../records/unit.js';
import { refuseBilling } from '../groups/refuse-grouped.js';
import { endedPeriodRefusal } from '../../subscriptions/ended-period.js';
import { refuseInherited } from '../../subscriptions/refuse-inherited.js';
import { endOfPause, enterPause, type PausedSubscription } from './begin-pause.js';
import { answerPause, type AnsweredPause } from './answered-pause.js';
import { notePause } from './note-pause.js';
import type { PauseSubscriptionBody } from './pause-dto.js';

type Dates = { readonly startMs: InstantMs; readonly endMs: InstantMs | null };

/** @throws Refused when something stands in the way of a pause. */
function refusePause(unit: Unit, row: SubscriptionRow): void {
  accept(refuseInherited(row, 'pauses with its parent'));
  const problem = problemOfMove(SUBSCRIPTION, 'pause', row.subscription_status);
  if (problem !== null) throw new Refused(new Refusal('invalid_operation', problem));
  if (row.active_pause_id !== null) {
    const live = `the subscription has the pause ${row.active_pause_id} already; resume it first`;
    throw new Refused(new Refusal('invalid_operation', live));
  }
  if (row.current_period_end <= unit.now) throw new Refused(endedPeriodRefusal(row));
}

function datesOf(unit: Unit, row: SubscriptionRow, body: PauseSubscriptionBody): Dates {
  const reader = new MemberReader();
  const request = {
    mode: body.pause_mode,
    startMs: reader.instant('pause_start', body.pause_start),
    endMs: reader.instant('pause_end', body.pause_end),
    days: body.pause_days ?? null,
  };
  reader.metadata(body.metadata);
  accept(reader.refusal());
  const at = { now: unit.now, currentEndMs: row.current_period_end };
  const dates = pauseDates(request, at);
  if (dates.problem !== null)
    throw new Refused(invalid({ [dates.problem.member]: dates.problem.text }));
  return dates;
}

async function storePause(
  unit: Unit,
  row: SubscriptionRow,
  body: PauseSubscriptionBody,
): Promise<PauseRow> {
  const dates = datesOf(unit, row, body);
  const isAtOnce = body.pause_mode === 'immediate';
  return createRecord(unit, PAUSES, {
    subscription_id: row.id,
    pause_mode: body.pause_mode,
    resume_mode: null,
    pause_status: isAtOnce ? 'active' : 'scheduled',
    pause_start: dates.startMs,
    pause_end: dates.endMs,
    ends_at: isAtOnce ? endOfPause(row, dates.endMs) : null,
    resumed_at: null,
    original_period_start: row.current_period_start,
    original_period_end: row.current_period_end,
    reason: body.reason ?? null,
    metadata: { ...body.metadata },
  });
}

async function pause(
  unit: Unit,
  target: ChangeTarget,
  body: PauseSubscriptionBody,
): Promise<PausedSubscription> {
  const row = await lockForChange(unit, SUBSCRIPTIONS, target);
  refusePause(unit, row);
  await refuseBilling(unit, row);
  const stored = await storePause(unit, row, body);
  if (body.pause_mode === 'immediate') return enterPause(unit, stored);
  const subscription = await notePause(unit, row, stored.id);
  return { subscription, pause: stored };
}

/** What a request asks of a subscription. */
export type PauseWanted<Body> = { readonly target: ChangeTarget; readonly body: Body };

/** POST /subscriptions/{id}/pause: stops the billing, now or later (docs/domain.md 26). */
export function pauseSubscription(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: PauseWanted<PauseSubscriptionBody>,
): Promise<AnsweredPause | Refusal> {
  const isDry = body.dry_run === true;
  return answerPause(dependencies, occasion, { isDry, work: (unit) => pause(unit, target, body) });
}
