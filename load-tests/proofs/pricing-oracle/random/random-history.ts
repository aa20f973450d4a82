import type { SeededRandom } from '../../../harness/seeded-random.js';
import type { Range } from '../../usage-oracle/windows.js';
import { rowAt, runningRow, type LedgerRow } from '../period-ledger.js';
import { endOf, type HistoryOperation, type Subscription } from '../subscription.js';
import type { Theme } from './random-theme.js';
import { randomInstantIn } from './random-times.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** Operations of a kind in one row, so that a history stays short. */
const IN_A_ROW_MAX = 3;

type Draw = {
  readonly random: SeededRandom;
  readonly theme: Theme;
  /** With the history so far. */
  readonly subscription: Subscription;
  readonly row: LedgerRow;
  /** Where operations may take place: after what is known, before the row ends. */
  readonly free: Range;
};

/** Trials of whole days; of the shortest periods short ones, which are dearer. */
export function randomTrialEnd(random: SeededRandom, { start, length }: Subscription): number {
  const daysMax = length.period === 'DAILY' ? 9 : 40;
  const days = random.chance(0.3) ? random.pick([1, 7, 14, 30]) : random.between(1, daysMax);
  return start + Math.min(days, daysMax) * DAY_MS;
}

function randomPauseMs(random: SeededRandom, { grid }: LedgerRow): number {
  const gridMs = grid.end - grid.start;
  const share = random.below(1000) / 1000;
  const days = random.between(1, 12) * DAY_MS;
  const longest = Math.ceil(gridMs * 1.6);
  const pauseMs = random.pick([
    days,
    10 * DAY_MS,
    HOUR_MS,
    1,
    gridMs,
    Math.round(gridMs * 0.3 * share),
    Math.round(gridMs * share),
    Math.round(gridMs * 1.6 * share),
  ]);
  return Math.max(1, Math.min(pauseMs, longest));
}

function randomPause({ random, subscription, row, free }: Draw): readonly HistoryOperation[] {
  const from = randomInstantIn(random, free);
  const end = endOf(subscription);
  const at = Math.min(from + randomPauseMs(random, row), end ?? Infinity);
  if (at <= from) return [];
  const pause = { type: 'pause', at, from } as const;
  // A paused subscription may be cancelled, which ends the pause, too.
  const isCancelled = end === null && random.chance(0.05);
  return isCancelled ? [pause, { type: 'cancel', at, effective: at }] : [pause];
}

function randomThreshold({ random, row, free }: Draw): readonly HistoryOperation[] {
  const at = randomInstantIn(random, free);
  return at > row.start ? [{ type: 'threshold', at }] : [];
}

/** At once, for a later instant of the row, or for one that has passed. */
function randomCancellation({ random, row, free }: Draw): readonly HistoryOperation[] {
  const effective = randomInstantIn(random, free);
  if (effective <= row.start) return [];
  const at = random.pick([
    effective,
    effective,
    randomInstantIn(random, { start: free.start, end: effective }),
    randomInstantIn(random, { start: effective, end: row.end }),
  ]);
  return [{ type: 'cancel', at: Math.max(at, free.start), effective }];
}

function randomInRow(draw: Draw, mayThreshold: boolean): readonly HistoryOperation[] {
  const { random, theme, row } = draw;
  if (row.kind === 'trial') return random.chance(0.06) ? randomCancellation(draw) : [];
  if (random.chance(theme.pauses)) return randomPause(draw);
  if (mayThreshold && random.chance(theme.thresholds)) return randomThreshold(draw);
  return random.chance(theme.cancels) ? randomCancellation(draw) : [];
}

type Growing = { readonly subscription: Subscription; readonly isEnded: boolean };

/** What happens inside of the running row, one thing after the other. */
function withRowHistory(
  random: SeededRandom,
  theme: Theme,
  { subscription, mayThreshold }: { subscription: Subscription; mayThreshold: boolean },
): Growing {
  let known = subscription;
  for (let count = 0; count < IN_A_ROW_MAX; count += 1) {
    const row = runningRow(known);
    const last = known.history.at(-1);
    const free = { start: Math.max(row.start, last?.at ?? row.start), end: row.end };
    if (free.start >= free.end) break;
    const draw = { random, theme, subscription: known, row, free };
    const operations = randomInRow(draw, mayThreshold);
    if (operations.length === 0) break;
    known = { ...known, history: [...known.history, ...operations] };
    if (operations.some(({ type }) => type === 'cancel')) {
      return { subscription: known, isEnded: true };
    }
  }
  return { subscription: known, isEnded: false };
}

/** A history of some rows: renewed until the last of them, or until the subscription ends. */
export function randomHistory(
  random: SeededRandom,
  theme: Theme,
  given: { readonly subscription: Subscription; readonly rowCount: number },
): Subscription {
  const mayThreshold = random.chance(0.6);
  let { subscription } = given;
  for (;;) {
    const grown = withRowHistory(random, theme, { subscription, mayThreshold });
    ({ subscription } = grown);
    const { index, kind, end } = runningRow(subscription);
    if (grown.isEnded || index + 1 >= given.rowCount) return subscription;
    if (rowAt(subscription, index + 1) === null) return subscription;
    const operation = { type: kind === 'trial' ? 'trial_end' : 'renewal', at: end } as const;
    subscription = { ...subscription, history: [...subscription.history, operation] };
  }
}

/** Instants at which something happens, near which events are drawn. */
export function edgesOf({ history }: Subscription): readonly number[] {
  return history.flatMap((operation) => {
    if (operation.type === 'pause') return [operation.from, operation.at];
    return [operation.type === 'cancel' ? operation.effective : operation.at];
  });
}
