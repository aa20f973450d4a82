import { advanceLines, creditOf, giveBack } from './charges.js';
import { executeChange, lineagesAt } from './change-plan.js';
import { draftCycle, invoiceNow, resumeAt, type ModelWorld } from './invoices.js';
import { NEVER, runningOf, type Life, type Payer } from './life.js';
import { nextRow } from './rows.js';

/** Ends a trial: the first period begins, and is charged in advance (22.4). */
export function endTrial(life: Life): void {
  const row = nextRow(life);
  life.status = 'active';
  invoiceNow(life, {
    reason: 'SUBSCRIPTION_TRIAL_END',
    start: row.start,
    end: row.end,
    lines: advanceLines(life, row),
  });
}

/** Gives back what reaches beyond the end (24.6). */
function creditEnd(life: Life, at: number): void {
  for (const lineage of lineagesAt(life, at)) {
    giveBack(life, creditOf(life, lineage, at));
    life.payer.roundings += 1;
  }
  for (const item of life.items) {
    item.paidTo = null;
    item.tail = null;
  }
}

/** Ends a subscription where its last row ends. */
function endLife(life: Life): void {
  const row = runningOf(life);
  const { schedule } = life;
  if (schedule?.type === 'cancellation' && schedule.isProrated) creditEnd(life, row.end);
  draftCycle(life, row, null);
  for (const item of life.items) item.end = Math.min(item.end ?? NEVER, row.end);
  life.status = 'cancelled';
  life.schedule = null;
  life.pause = null;
}

/** What happens where the running row ends. */
function endRow(life: Life, world: ModelWorld): void {
  const row = runningOf(life);
  if (life.end !== null && life.end <= row.end) {
    endLife(life);
    return;
  }
  if (life.schedule?.type === 'plan_change') {
    executeChange(life, world, { terms: life.schedule.terms, at: row.end, isAtEnd: true });
    return;
  }
  if (row.isTrial) {
    endTrial(life);
    return;
  }
  const next = nextRow(life);
  if (life.pause?.isAtPeriodEnd === true && life.pause.start === row.end) next.isHeld = true;
  draftCycle(life, row, next);
}

type Due = { readonly at: number; readonly order: number; readonly happen: () => void };

const isRenewed = ({ status }: Life): boolean => status === 'active' || status === 'trialing';

/** What is due next of a subscription; at one instant periods come before pauses and drafts. */
function dueOf(life: Life, world: ModelWorld): readonly Due[] {
  if (life.status === 'draft') return [];
  const { pause, status } = life;
  const due: Due[] = life.invoices.flatMap((invoice) => {
    const { finalizeAt } = invoice;
    if (finalizeAt === null) return [];
    const happen = (): void => {
      invoice.lines = invoice.compute();
      invoice.finalizeAt = null;
    };
    return [{ at: finalizeAt, order: 3, happen }];
  });
  if (isRenewed(life)) {
    const happen = (): void => endRow(life, world);
    due.push({ at: runningOf(life).end, order: 1, happen });
  }
  if (pause !== null && status === 'active') {
    const happen = (): void => void (life.status = 'paused');
    due.push({ at: pause.start, order: 2, happen });
  }
  if (pause !== null && status === 'paused') {
    const at = Math.min(pause.end ?? NEVER, life.end ?? NEVER);
    due.push({ at, order: 0, happen: () => resumeAt(life, at) });
  }
  return due;
}

/**
 * Turns the clock of the world, and lets happen what is due on the way, in order.
 * @returns to whose subscriptions something happened.
 */
export function turnClock(world: ModelWorld, to: number): ReadonlySet<Payer> {
  const changed = new Set<Payer>();
  for (let steps = 0; ; steps += 1) {
    if (steps > 100_000) throw new Error('what is due does not come to an end');
    const due = [...world.lives.values()]
      .flatMap((life) => dueOf(life, world).map((each) => ({ ...each, payer: life.payer })))
      .filter(({ at }) => at <= to)
      .sort((left, right) => left.at - right.at || left.order - right.order);
    const [first] = due;
    if (first === undefined) break;
    changed.add(first.payer);
    first.happen();
  }
  world.now = to;
  return changed;
}
