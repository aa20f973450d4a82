import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { periodAt } from '../../domain/periods/ledger-periods.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import { resultOf, undo } from '../../records/dry-run.js';
import type { Occasion } from '../../records/occasion.js';
import type { Refusal } from '../../records/refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from '../../records/unit.js';
import {
  loadBilledSubscription,
  withRelated,
  type LoadedSubscription,
} from '../../subscriptions/loaded-subscription.js';
import type { PausedSubscription } from './begin-pause.js';

/** Where the period ends that a pause began in; null while nobody knows when the pause ends. */
export type BillingImpact = {
  readonly endBefore: InstantMs;
  readonly endAfter: InstantMs | null;
  readonly nextInvoiceAt: InstantMs | null;
};

/** A subscription that pauses or is resumed, as it is answered. */
export type AnsweredPause = {
  readonly subscription: LoadedSubscription;
  readonly pause: PausedSubscription['pause'];
  readonly impact: BillingImpact;
};

/** The period that a pause which is not over begins in, and what it makes of it. */
function impactOf(
  { subscription: row, pause }: PausedSubscription,
  ledger: PeriodLedger,
): BillingImpact {
  const current = row.current_period_end;
  if (pause.pause_status === 'cancelled') {
    return { endBefore: current, endAfter: current, nextInvoiceAt: current };
  }
  if (pause.pause_status === 'completed') {
    return { endBefore: pause.original_period_end, endAfter: current, nextInvoiceAt: current };
  }
  const endBefore = periodAt(ledger, pause.pause_start)?.endMs ?? current;
  const { pause_start: startMs, pause_end: endMs } = pause;
  const moved = endMs === null ? null : endBefore + endMs - startMs;
  const endAfter = moved === null ? null : Math.min(moved, ledger.endMs ?? Infinity);
  return { endBefore, endAfter, nextInvoiceAt: startMs >= current ? current : endAfter };
}

async function answeredPause(unit: Unit, done: PausedSubscription): Promise<AnsweredPause> {
  const { subscription, pause } = done;
  const billed = await loadBilledSubscription(unit, subscription.id);
  const loaded = await withRelated(unit, subscription);
  const shown = loaded.related.pauses.find(({ id }) => id === pause.id);
  return {
    subscription: loaded,
    pause: assertPresent(shown, 'the pause'),
    impact: impactOf(done, billed.terms),
  };
}

/** Does it and answers it, and undoes it where only a look was asked for. */
export async function answerPause(
  dependencies: WriteDependencies,
  occasion: Occasion,
  {
    isDry,
    work,
  }: {
    readonly isDry: boolean;
    readonly work: (unit: Unit) => Promise<PausedSubscription>;
  },
): Promise<AnsweredPause | Refusal> {
  const answer = await writeUnit(dependencies, occasion, async (unit) => {
    const done = await work(unit);
    const answered = await answeredPause(unit, done);
    return isDry ? undo(answered) : answered;
  });
  return resultOf(answer);
}
