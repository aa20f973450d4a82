import { anchorAfterTrial, firstAnchorOf, gridOf } from '../../pricing-oracle/billing-anchor.js';
import { gridPeriodAt } from '../../pricing-oracle/billing-grid.js';
import { instantOf, localOf } from '../../pricing-oracle/local-time.js';
import { plainSubscription } from '../../pricing-oracle/plain-subscription.js';
import type { Subscription } from '../../pricing-oracle/subscription.js';
import { runningOf, type Life, type Row, type Terms } from './life.js';

const DAY_MS = 24 * 3_600_000;

/** The subscription in the words of the pricing oracle, whose calendar counts the periods. */
function gridded({ zone, period, cycle }: Terms, start: number): Subscription {
  return { ...plainSubscription, zone, cycle, start, length: { period, count: 1 } };
}

/** The next row from an instant on, with the anchor in force (12.4, 13.4). */
function rowFrom({ terms, start, anchor, end }: Life, at: number, isFirst: boolean): Row {
  const subscription = gridded(terms, start);
  const { times, ...grid } = gridPeriodAt(gridOf(subscription, anchor.at, subscription.length), at);
  const isWhole = isFirst && !terms.isProrated;
  return {
    start: at,
    end: Math.min(grid.end, end ?? grid.end),
    full: isWhole ? { start: at, end: grid.end } : grid,
    number: anchor.number + times,
    isTrial: false,
    pauses: [],
    isHeld: false,
  };
}

/** The first row (12.10): the trial, where there is one. */
export function beginRows(life: Life): void {
  const { terms, start, end } = life;
  life.anchor = { at: firstAnchorOf(gridded(terms, start)), number: 0 };
  const first = rowFrom(life, start, true);
  if (terms.trialDays === 0) {
    life.rows.push(first);
    return;
  }
  // As many days by the wall clock (22.4).
  const trialEnd = instantOf(terms.zone, localOf(terms.zone, start) + terms.trialDays * DAY_MS);
  life.trialEnd = trialEnd;
  life.rows.push({ ...first, end: Math.min(trialEnd, end ?? trialEnd), isTrial: true });
}

/** The row after the running one: a renewal, or the end of a trial. */
export function nextRow(life: Life): Row {
  const { isTrial, end } = runningOf(life);
  if (isTrial)
    life.anchor = { at: anchorAfterTrial(gridded(life.terms, life.start), end), number: 0 };
  const row = rowFrom(life, end, isTrial);
  life.rows.push(row);
  return row;
}

/** Where a row ends that no end of the subscription cuts (12.10). */
export function uncutEnd({ trialEnd }: Life, { full, isTrial, pauses }: Row): number {
  if (isTrial) return trialEnd;
  return pauses.reduce((end, pause) => end + pause.end - pause.start, full.end);
}

/** A pause of the running row has ended (12.10). */
export function movePeriod(life: Life, pause: { start: number; end: number }): void {
  const row = runningOf(life);
  // One that ends where it begins moves nothing.
  if (pause.end === pause.start) return;
  row.pauses.push(pause);
  const moved = row.end + pause.end - pause.start;
  row.end = life.end === null ? moved : Math.min(moved, life.end);
  if (life.terms.cycle === 'anniversary') life.anchor = { at: row.end, number: row.number + 1 };
}
