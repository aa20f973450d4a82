import type { InstantMs } from '../../../contract/instant.js';
import { billingLengthOf } from '../../domain/calendar/billing-length.js';
import type { PriceTerms } from '../../domain/price/price.js';
import { invalid, type Refusal } from '../../records/refusal.js';
import { termsOfPrice } from '../../subscriptions/lines/line-price.js';
import type { NewLine } from '../../subscriptions/lines/new-line.js';
import type { SubscriptionCommand } from './subscription-command.js';

function hasMixedPeriods(prices: readonly PriceTerms[]): boolean {
  const lengths = new Set(
    prices.flatMap(({ billingPeriod, billingPeriodCount }) => {
      if (billingPeriod === 'ONETIME') return [];
      const { unit, count } = billingLengthOf({ billingPeriod, billingPeriodCount });
      return [`${count} ${unit}`];
    }),
  );
  return lengths.size > 1;
}

/**
 * Rules that need the prices: trials of the plan, and what prorations refuse (docs/domain.md 22).
 */
export function linesRefusal(
  command: SubscriptionCommand,
  lines: readonly NewLine[],
  now: InstantMs,
): Refusal | null {
  const prices = lines.map(({ price }) => termsOfPrice(price));
  const hasTrial = lines.some(
    ({ addon, price }) => addon === null && termsOfPrice(price).trialPeriodDays !== null,
  );
  if (hasTrial && !command.isWithoutTrial) {
    return invalid({
      trial_period_days:
        'the plan has prices with a trial, and trials are not available yet; give 0',
    });
  }
  if (command.prorationBehavior === 'none') return null;
  if (command.startMs !== null && command.startMs < now) {
    const problem = 'create_prorations cannot be combined with a start_date in the past';
    return invalid({ proration_behavior: problem });
  }
  if (!hasMixedPeriods(prices)) return null;
  const problem = 'create_prorations needs lines that all have the same billing period';
  return invalid({ proration_behavior: problem });
}
