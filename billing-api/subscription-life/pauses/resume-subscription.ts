import type { InstantMs } from '../../../contract/instant.js';
import { PAUSES, type PauseRow } from '../../declarations/subscriptions/pause.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { PAUSE } from '../../domain/lifecycle/subscription-lifecycle.js';
import { lockForChange, updateRecord, type ChangeTarget } from '../../records/change-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { moveRecord } from '../../records/move-record.js';
import type { Occasion } from '../../records/occasion.js';
import { accept, invalid, Refusal, Refused } from '../../records/refusal.js';
import type { Unit, WriteDependencies } from '../../records/unit.js';
import { lockLivePause } from '../../subscriptions/periods/pauses-store.js';
import { refuseInherited } from '../../subscriptions/refuse-inherited.js';
import { answerPause, type AnsweredPause } from './answered-pause.js';
import { endOfPause, type PausedSubscription } from './begin-pause.js';
import { endPause } from './end-pause.js';
import { notePause } from './note-pause.js';
import type { ResumeSubscriptionBody } from './pause-dto.js';
import type { PauseWanted } from './pause-subscription.js';

function resumeAt(unit: Unit, body: ResumeSubscriptionBody): InstantMs | null {
  const reader = new MemberReader();
  const atMs = reader.instant('resume_at', body.resume_at);
  reader.metadata(body.metadata);
  if (body.resume_mode === 'scheduled') {
    if (atMs === null || atMs <= unit.now) {
      reader.note('resume_at', 'must be given, and in the future');
    }
  } else if (body.resume_at !== undefined) {
    reader.note('resume_at', 'must be left out with resume_mode immediate');
  }
  return accept(reader.refusal() ?? atMs);
}

/** A pause that has not begun never does. */
async function cancelPause(
  unit: Unit,
  row: SubscriptionRow,
  coming: PauseRow,
): Promise<PausedSubscription> {
  const cancelled = await moveRecord(unit, PAUSES, {
    target: { id: coming.id },
    lifecycle: PAUSE,
    move: 'cancel',
    to: 'cancelled',
  });
  const subscription = await notePause(unit, row, null);
  return { subscription, pause: cancelled };
}

/** Notes when a pause ends by itself. */
async function noteEnd(
  unit: Unit,
  { subscription, pause }: PausedSubscription,
  atMs: InstantMs,
): Promise<PausedSubscription> {
  if (atMs <= pause.pause_start) {
    throw new Refused(invalid({ resume_at: 'must be later than the start of the pause' }));
  }
  const isActive = pause.pause_status === 'active';
  const ends = isActive ? { ends_at: endOfPause(subscription, atMs) } : {};
  const patch = { pause_end: atMs, resume_mode: 'scheduled' as const, ...ends };
  const noted = await updateRecord(unit, PAUSES, { row: pause, patch });
  return { subscription, pause: noted };
}

/** Ends a pause now, or notes when it ends; one that has not begun is cancelled. */
async function endOrNote(
  unit: Unit,
  { subscription, pause: live }: PausedSubscription,
  atMs: InstantMs | null,
): Promise<PausedSubscription> {
  if (atMs !== null) return noteEnd(unit, { subscription, pause: live }, atMs);
  if (live.pause_status === 'active') {
    return endPause(unit, { subscription, pause: live }, { atMs: unit.now, mode: 'immediate' });
  }
  return cancelPause(unit, subscription, live);
}

async function resume(
  unit: Unit,
  target: ChangeTarget,
  body: ResumeSubscriptionBody,
): Promise<PausedSubscription> {
  const atMs = resumeAt(unit, body);
  const metadata = body.metadata;
  const row = await lockForChange(unit, SUBSCRIPTIONS, target);
  accept(refuseInherited(row, 'is resumed with its parent'));
  const live = await lockLivePause(unit, row.id);
  if (live === null) {
    const state = `the subscription is ${row.subscription_status}, and no pause is to come: there is nothing to resume`;
    throw new Refused(new Refusal('invalid_operation', state));
  }
  const patch = metadata === undefined ? {} : { metadata: { ...live.metadata, ...metadata } };
  const noted =
    metadata === undefined ? live : await updateRecord(unit, PAUSES, { row: live, patch });
  return endOrNote(unit, { subscription: row, pause: noted }, atMs);
}

/** POST /subscriptions/{id}/resume: the billing goes on, now or at an instant. */
export function resumeSubscription(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: PauseWanted<ResumeSubscriptionBody>,
): Promise<AnsweredPause | Refusal> {
  const isDry = body.dry_run === true;
  return answerPause(dependencies, occasion, { isDry, work: (unit) => resume(unit, target, body) });
}
