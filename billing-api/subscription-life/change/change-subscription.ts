import type { InstantMs } from '../../../contract/instant.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { computeThenStore } from '../../records/compute-then-store.js';
import { readRecord } from '../../records/find-record.js';
import type { Occasion } from '../../records/occasion.js';
import { resultOf, undo } from '../../records/dry-run.js';
import { accept, isRefusal, type Refusal } from '../../records/refusal.js';
import { mustRead, readUnit } from '../../records/unit.js';
import type { BillingDependencies } from '../../invoicing/drafts/compute-tasks.js';
import { computeEnding } from '../cancel/final-invoice.js';
import type { LockedEnding } from '../cancel/lock-ending.js';
import { carryOut, lockChange, type ChangedPlan, type ComputedChange } from './carry-out-change.js';
import { differenceFrom, figuresOf, readToken, type ShownChange } from './preview-token.js';
import { readChange, type ChangeRequest } from './read-change.js';

type Wanted = ChangeRequest & {
  /** What a preview has shown, which must still be so; null when there was none. */
  readonly shown: ShownChange | null;
  /** When it is, or would be, done; null for now. */
  readonly atMs: InstantMs | null;
  readonly isPreview: boolean;
};

/** Everything happens at one instant, so that no time lies between the old and the new. */
async function atOneInstant(
  dependencies: BillingDependencies,
  occasion: Occasion,
  at: InstantMs | null,
): Promise<Occasion> {
  if (at !== null) return { ...occasion, at };
  return mustRead(dependencies, occasion, ({ now }) => Promise.resolve({ ...occasion, at: now }));
}

async function run(
  dependencies: BillingDependencies,
  given: Occasion,
  { shown, atMs: at, isPreview, ...request }: Wanted,
): Promise<ChangedPlan | Refusal> {
  const occasion = await atOneInstant(dependencies, given, shown?.atMs ?? at);
  return computeThenStore<ComputedChange, LockedEnding, ChangedPlan>(dependencies, occasion, {
    what: 'the change of plan',
    compute: () => computeEnding(dependencies, occasion, (unit) => readChange(unit, request)),
    lockAndCompare: lockChange,
    store: async (unit, computed, held) => {
      const changed = await carryOut(unit, computed, held);
      if (isPreview) undo(changed);
      if (shown !== null) accept(differenceFrom(shown, figuresOf(changed)));
      return changed;
    },
  });
}

/** What is asked for over HTTP. */
type Asked = Omit<ChangeRequest, 'scheduleId'>;

/** When a change is made: now, or when the running period ends; null for now. */
async function instantOf(
  dependencies: BillingDependencies,
  occasion: Occasion,
  { target, body }: Asked,
): Promise<InstantMs | null | Refusal> {
  if (body.change_at !== 'end_of_period') return null;
  return readUnit(dependencies, occasion, async (unit) => {
    const row = await readRecord(unit, SUBSCRIPTIONS, target.id);
    return row.current_period_end;
  });
}

/**
 * POST /subscriptions/{id}/change/preview: carries the change out in a transaction that is rolled
 * back, so that what it shows is what executing it does.
 */
export async function previewChange(
  dependencies: BillingDependencies,
  occasion: Occasion,
  asked: Asked,
): Promise<ChangedPlan | Refusal> {
  const atMs = await instantOf(dependencies, occasion, asked);
  if (isRefusal(atMs)) return atMs;
  const wanted = { ...asked, scheduleId: null, shown: null, atMs, isPreview: true };
  return resultOf(await run(dependencies, occasion, wanted));
}

/**
 * POST /subscriptions/{id}/change/execute: the old subscription is billed up to now and cancelled,
 * a new one begins on the target plan, and what is unused of charges in advance is set off
 * (docs/domain.md 25.3). All of it happens, or nothing.
 */
export async function executeChange(
  dependencies: BillingDependencies,
  occasion: Occasion,
  asked: Asked,
): Promise<ChangedPlan | Refusal> {
  const { preview_token: token } = asked.body;
  const wanted = { ...asked, scheduleId: null, shown: null, atMs: null, isPreview: false };
  if (token === undefined) return run(dependencies, occasion, wanted);
  const now = await mustRead(dependencies, occasion, (unit) => Promise.resolve(unit.now));
  const shown = readToken(token, now);
  if (isRefusal(shown)) return shown;
  return run(dependencies, occasion, { ...wanted, shown });
}

/** Carries out a change that waited for the end of a period, as of that instant (25.5). */
export function executeScheduledChange(
  dependencies: BillingDependencies,
  occasion: Occasion,
  request: ChangeRequest & { readonly atMs: InstantMs },
): Promise<ChangedPlan | Refusal> {
  return run(dependencies, occasion, { ...request, shown: null, isPreview: false });
}
