import type { InstantMs, Interval } from '../../../contract/instant.js';
import { overlapOf } from '../calendar/interval.js';
import { billedFromMs, lifeOf, periodFrom, unsplitPeriodAt } from '../periods/ledger-periods.js';
import type { PeriodLedger } from '../periods/period-ledger.js';
import type { LineSelectionInputs } from './invoice.js';
import type { SubscriptionTerms } from './subscription-terms.js';

/** The periods that the lines of an invoice are selected by (docs/domain.md 13.3). */
export type InvoiceScope = {
  readonly terms: SubscriptionTerms;
  /** The time whose usage is billed; null when none is. */
  readonly usage: Interval | null;
  /** The time whose FIXED lines are billed in arrear; null when none are. */
  readonly arrear: Interval | null;
  /** The period that is charged in advance; null when none is. */
  readonly advance: Interval | null;
  /** Whether the subscription has no later invoice. */
  readonly isLast: boolean;
};

/** The time of a subscription that is billed: its life without its trial. */
function billedLifeOf(terms: SubscriptionTerms): Interval {
  return { startMs: billedFromMs(terms), endMs: lifeOf(terms).endMs };
}

/** The period of the invoice; when it is a row of the ledger, as if it had not been split. */
function unsplitOf(terms: SubscriptionTerms, period: Interval): Interval {
  const isRow = periodFrom(terms, period.startMs)?.endMs === period.endMs;
  return (isRow ? unsplitPeriodAt(terms, period.startMs) : null) ?? period;
}

/**
 * Since when usage is billed again at the end of a part of a billing period that threshold invoices
 * have split; null where it is that of the period alone (docs/domain.md 30.1).
 */
export function usageSince(terms: PeriodLedger, { startMs }: Interval): InstantMs | null {
  if (periodFrom(terms, startMs) === null) return null;
  const whole = unsplitPeriodAt(terms, startMs);
  return whole === null || whole.startMs === startMs ? null : whole.startMs;
}

function openingScope(terms: SubscriptionTerms, period: Interval): InvoiceScope {
  const isTrial = periodFrom(terms, period.startMs)?.kind === 'trial';
  const advance = isTrial ? null : period;
  return { terms, usage: null, arrear: null, advance, isLast: false };
}

export function invoiceScopeOf(inputs: LineSelectionInputs): InvoiceScope {
  const { subscription: terms, period, referencePoint } = inputs;
  if (referencePoint === 'period_start') return openingScope(terms, period);
  const life = billedLifeOf(terms);
  const { usageSinceMs = period.startMs } = inputs;
  const usage = overlapOf({ startMs: usageSinceMs, endMs: period.endMs }, life);
  if (referencePoint === 'threshold') {
    return { terms, usage, arrear: null, advance: null, isLast: false };
  }
  return {
    terms,
    usage,
    arrear: overlapOf(unsplitOf(terms, period), life),
    advance: inputs.isAdvanceHeld === true ? null : periodFrom(terms, period.endMs),
    isLast: period.endMs >= life.endMs && period.endMs > life.startMs,
  };
}
