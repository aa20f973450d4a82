import { DAY_MS, type InstantMs, type Interval } from '../../../contract/instant.js';
import { daysAfter } from '../../domain/calendar/local-time.js';
import { invalid, type Refusal } from '../../records/refusal.js';
import { termsOfPrice } from '../../subscriptions/lines/line-price.js';
import type { NewLine } from '../../subscriptions/lines/new-line.js';
import type { OpeningTerms } from './opening-terms.js';

/** The trials that the recurring fixed prices of the plan name. */
function daysOfPlan(lines: readonly NewLine[]): readonly number[] {
  const days = lines
    .filter(({ entityType }) => entityType === 'plan')
    .map(({ price }) => termsOfPrice(price).trialPeriodDays)
    .filter((found) => found !== null);
  return [...new Set(days)].sort((left, right) => left - right);
}

/** A line of the subscription itself begins no trial, so a price that says so is a mistake. */
function isOwnWithTrial({ entityType, priceId, price }: NewLine): boolean {
  const isOwn = entityType === 'subscription' && priceId === null;
  return isOwn && termsOfPrice(price).trialPeriodDays !== null;
}

/**
 * Where the trial of a new subscription ends: after the days of the request, else after those that
 * the prices of its plan have in common, at the same local time. Null without a trial
 * (docs/domain.md 22.4).
 */
export function findTrialEnd(
  { trialDays }: Pick<OpeningTerms, 'trialDays'>,
  lines: readonly NewLine[],
  { startMs, timezone }: { readonly startMs: InstantMs; readonly timezone: string },
): InstantMs | null | Refusal {
  if (lines.some(isOwnWithTrial)) {
    return invalid({
      trial_period_days: 'a price of the request itself has no trial; leave it out',
    });
  }
  const ofPlan = daysOfPlan(lines);
  if (trialDays === null && ofPlan.length > 1) {
    const found = ofPlan.join(', ');
    return invalid({
      trial_period_days: `the prices of the plan have trials of ${found} days; give one, or 0`,
    });
  }
  // Absent means none: neither the request nor a price names a trial.
  const days = trialDays ?? ofPlan[0] ?? 0;
  return days === 0 ? null : daysAfter(startMs, days, timezone);
}

/** Where the trial of a draft ends that begins at another instant: it has as many days there. */
export function movedTrialEnd(
  { startMs, endMs }: Interval,
  { toMs, timezone }: { readonly toMs: InstantMs; readonly timezone: string },
): InstantMs {
  const days = Math.round((endMs - startMs) / DAY_MS);
  // The end of the subscription may have cut it inside a day.
  const isOfDays = daysAfter(startMs, days, timezone) === endMs;
  return isOfDays ? daysAfter(toMs, days, timezone) : toMs + endMs - startMs;
}
