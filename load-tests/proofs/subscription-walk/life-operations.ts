import { cancelLater, cancelNow, moveTrial, undo } from './model/operate.js';
import { executeChange } from './model/change-plan.js';
import { createLife, openLife } from './model/create.js';
import { resumeAt } from './model/invoices.js';
import { runningOf, type ChangeTerms, type Life } from './model/life.js';
import { beginRows } from './model/rows.js';
import { advanceBoth, type Answer, type WalkWorld } from './walk-world.js';
import { isScaled, iso, pathOf, pick, spanOf, type Draws, type Operation } from './act.js';

const DAY_MS = 24 * 3_600_000;

const isRunning = ({ status }: Life): boolean => status === 'active' || status === 'trialing';

/** Whether it waits for its start. */
const isFuture = ({ model }: WalkWorld, { status, start }: Life): boolean =>
  status !== 'draft' && start > model.now;

/** What the rules refuse is asked for now and then. */
const isAsked = (isLegal: boolean, { b }: Draws): boolean => isLegal || b % 6 === 0;

/** Starts in the past are billed by the next run, so the clock goes on a little. */
export async function billPast(world: WalkWorld, start: number): Promise<void> {
  if (start < world.model.now) await advanceBoth(world, world.model.now + 3_600_000);
}

const activate: Operation = (world, life, draws) => {
  const { now } = world.model;
  const start = pick([now, now + spanOf(world, draws), now - spanOf(world, draws)], draws.a);
  const isLegal = life.status === 'draft';
  if (!isLegal && draws.b % 8 > 0) return null;
  return {
    says: `activate from ${iso(start)}`,
    path: `${pathOf(world, life)}/activate`,
    isLegal,
    body: { start_date: iso(start) },
    apply: async () => {
      life.start = start;
      life.items.splice(0);
      life.rows.splice(0);
      const made = createLife({ ...life, start, end: null });
      life.items.push(...made.items);
      life.status = made.status;
      beginRows(life);
      openLife(life);
      await billPast(world, start);
    },
  };
};

/** An instant of the running period at which nothing has happened since. */
function lately(world: WalkWorld, life: Life, draws: Draws): number {
  const row = runningOf(life);
  const since = Math.max(
    row.start,
    ...row.pauses.map(({ end }) => end),
    ...life.items.map(({ start }) => start),
    ...life.invoices.map(({ finalizeAt, end }) => (finalizeAt === null ? 0 : end)),
  );
  const at = world.model.now - spanOf(world, draws);
  return Math.max(at, since);
}

const cancel: Operation = (world, life, draws) => {
  const { now } = world.model;
  const isLegal = life.status !== 'cancelled';
  if (isLegal ? life.start > now && life.status !== 'draft' : draws.b % 8 > 0) return null;
  const isPast = draws.b % 3 === 0 && ['active', 'trialing'].includes(life.status);
  const at = isPast ? lately(world, life, draws) : now;
  const isProrated = draws.a % 2 === 0;
  const policy = pick([null, 'generate_invoice', 'skip'], draws.c);
  return {
    says: `cancel at ${iso(at)}`,
    path: `${pathOf(world, life)}/cancel`,
    isLegal,
    body: {
      cancellation_type: 'immediate',
      invoice_policy: policy ?? undefined,
      ...(isPast ? { cancel_at: iso(at) } : {}),
      proration_behavior: isProrated ? 'create_prorations' : 'none',
    },
    apply: () => {
      cancelNow(life, { at, isProrated, hasInvoice: policy !== 'skip' });
    },
  };
};

const cancelDeferred: Operation = (world, life, draws) => {
  if (life.pause !== null || isFuture(world, life)) return null;
  const isLegal = isRunning(life) && life.schedule === null;
  if (!isAsked(isLegal, draws)) return null;
  const isDated = draws.a % 2 === 0;
  const isProrated = draws.c % 2 === 0;
  const date = world.model.now + spanOf(world, draws);
  if (isDated && life.end !== null && date >= life.end) return null;
  return {
    says: 'cancel later',
    path: `${pathOf(world, life)}/cancel`,
    isLegal,
    body: {
      ...(isDated
        ? { cancellation_type: 'scheduled_date', cancel_at: iso(date) }
        : { cancellation_type: 'end_of_period' }),
      proration_behavior: isProrated ? 'create_prorations' : 'none',
    },
    apply: () => {
      cancelLater(life, isDated ? date : null, isProrated);
    },
  };
};

const undoSchedule: Operation = async (world, life) => {
  if (life.schedule === null) return null;
  const { body } = await world.api.call('GET', `${pathOf(world, life)}/schedules?limit=100`);
  const pending = body.items.find((one: Answer) => one.schedule_status === 'pending');
  return {
    says: 'undo',
    path: `/v1/subscriptions/schedules/${pending?.id}/cancel`,
    body: {},
    isLegal: true,
    apply: () => {
      undo(life);
    },
  };
};

/** When a pause would begin and end, for how many days. */
function pauseOf(world: WalkWorld, life: Life, draws: Draws) {
  const { now } = world.model;
  const mode = pick(['immediate', 'scheduled', 'period_end'] as const, draws.a);
  const days = draws.b % 3 === 0 ? null : 1 + (draws.b % 20);
  const periodEnd = life.status === 'draft' ? now : runningOf(life).end;
  const scheduled = now + spanOf(world, draws);
  const start = { immediate: now, scheduled, period_end: periodEnd }[mode];
  return { mode, days, start, end: days === null ? null : start + days * DAY_MS };
}

const pause: Operation = (world, life, draws) => {
  if (life.end !== null || isFuture(world, life)) return null;
  // What ends with the period ends where that was to end.
  if (life.items.some(({ end }) => end !== null && end > world.model.now)) return null;
  const isLegal = life.status === 'active' && life.pause === null;
  if (!isAsked(isLegal, draws)) return null;
  const { mode, days, start, end } = pauseOf(world, life, draws);
  return {
    says: `pause ${mode} ${days}`,
    path: `${pathOf(world, life)}/pause`,
    isLegal,
    body: {
      pause_mode: mode,
      ...(mode === 'scheduled' ? { pause_start: iso(start) } : {}),
      ...(days === null ? {} : { pause_days: days }),
    },
    apply: () => {
      life.pause = { start, end, isAtPeriodEnd: mode === 'period_end' };
      if (mode === 'immediate') life.status = 'paused';
    },
  };
};

const resume: Operation = (world, life, draws) => {
  const isLegal = life.pause !== null;
  if (!isLegal && draws.b % 8 > 0) return null;
  const isLater = draws.a % 3 === 0 && life.status === 'paused';
  const at = world.model.now + spanOf(world, draws);
  if (isLater && life.end !== null) return null;
  return {
    says: 'resume',
    path: `${pathOf(world, life)}/resume`,
    isLegal,
    body: isLater ? { resume_mode: 'scheduled', resume_at: iso(at) } : {},
    apply: () => {
      if (life.pause === null) throw new Error('no pause');
      if (isLater) life.pause = { ...life.pause, end: at };
      else if (life.status === 'paused') resumeAt(life, world.model.now);
      else life.pause = null;
    },
  };
};

const moveTrialEnd: Operation = (world, life, draws) => {
  const { now } = world.model;
  if (isFuture(world, life) || life.end !== null) return null;
  const isLegal = life.status === 'trialing' && life.schedule === null;
  if (!isAsked(isLegal, draws) || life.status === 'draft') return null;
  const isNow = draws.a % 3 === 0;
  if (isNow && runningOf(life).start === now) return null;
  const at = isNow ? now : now + spanOf(world, draws);
  const params = isNow
    ? { action: 'immediate' }
    : { action: 'scheduled_date', new_trial_end: iso(at) };
  return {
    says: `trial until ${iso(at)}`,
    path: `${pathOf(world, life)}/modify/execute`,
    isLegal,
    body: { type: 'trial_end', trial_end_params: params },
    apply: () => {
      moveTrial(life, at, isNow);
    },
  };
};

function changeTermsOf(world: WalkWorld, life: Life, draws: Draws): ChangeTerms {
  const others = world.plans.filter(({ id }) => id !== life.plan.id);
  const cycle = pick(['anniversary', 'calendar'] as const, draws.b);
  return {
    cycle,
    plan: draws.c % 10 === 0 ? life.plan : pick(others, draws.a),
    period: pick(['MONTHLY', 'MONTHLY', 'WEEKLY'] as const, draws.c),
    isProrated: draws.hours % 2 === 0 || isScaled(world, cycle),
  };
}

const changePlan: Operation = (world, life, draws) => {
  const { now } = world.model;
  if (isFuture(world, life)) return null;
  const terms = changeTermsOf(world, life, draws);
  const isLegal = isRunning(life) && life.schedule === null && terms.plan !== life.plan;
  if (!isAsked(isLegal, draws)) return null;
  const isAtEnd = draws.c % 3 === 0;
  const id = `${life.id}+`;
  return {
    says: `change to ${terms.period} ${terms.cycle} ${isAtEnd ? 'later' : 'now'}`,
    path: `${pathOf(world, life)}/change/execute`,
    isLegal,
    body: {
      target_plan_id: terms.plan.id,
      billing_cadence: 'RECURRING',
      billing_cycle: terms.cycle,
      billing_period: terms.period,
      billing_period_count: 1,
      proration_behavior: terms.isProrated ? 'create_prorations' : 'none',
      ...(isAtEnd ? { change_at: 'end_of_period' } : {}),
    },
    apply: (answer) => {
      if (isAtEnd) {
        life.schedule = { type: 'plan_change', terms };
        return;
      }
      executeChange(life, world.model, { terms, at: now, isAtEnd: false, id });
      world.ids.set(id, answer.new_subscription.id);
    },
  };
};

/** What happens to a subscription as a whole. */
export const LIFE_OPERATIONS: readonly (readonly [weight: number, Operation])[] = [
  [2, activate],
  [2, cancel],
  [2, cancelDeferred],
  [2, undoSchedule],
  [4, pause],
  [3, resume],
  [3, moveTrialEnd],
  [4, changePlan],
];
