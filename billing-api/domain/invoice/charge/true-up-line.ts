import { ONE, ZERO } from '../../../../contract/number/decimal.js';
import { minorDigitsOf } from '../../money/minor-digits.js';
import { formatMoney } from '../../money/money.js';
import type { TrueUp } from './charge-lines.js';
import type { InvoiceInputs, InvoiceLine } from '../invoice.js';
import type { LineTrace } from '../line-trace.js';
import { unadjusted } from './write-line.js';

function traceOf<C extends string>(
  trueUp: TrueUp<C>,
  { subscription, period }: InvoiceInputs<C>,
): LineTrace<C> {
  const { commitment, committed, window, utilized, amount } = trueUp;
  const digits = minorDigitsOf(subscription.currency);
  return {
    timezone: subscription.timezone,
    window: period,
    usage: null,
    pricing: null,
    windows: null,
    commitment: {
      level: 'subscription',
      type: 'amount',
      amount: committed.value,
      window,
      isLast: true,
      usedBefore: utilized.value,
      inCommitment: ZERO,
      overageBase: ZERO,
      overageFactor: commitment.overageFactor,
      overage: ZERO,
      trueUp: amount.value,
      splitOf: null,
    },
    proration: null,
    rounding: { exact: amount.value, rounded: amount, digits, mode: 'half_up_away_from_zero' },
    discounts: [],
  };
}

/**
 * The FIXED line of quantity 1 for the unused part of a subscription's commitment (docs/domain.md
 * 11.1).
 */
export function trueUpLine<C extends string>(
  trueUp: TrueUp<C>,
  inputs: InvoiceInputs<C>,
): InvoiceLine<C> {
  const { commitment, committed, utilized, amount } = trueUp;
  return {
    kind: 'true_up',
    lineItem: null,
    displayName: `${commitment.planDisplayName} True Up`,
    period: inputs.period,
    quantity: ONE,
    adjustedEntitlementQuantity: null,
    amount,
    priceUnitAmount: null,
    ...unadjusted(inputs.subscription.currency),
    commitmentInfo: null,
    usageAnalytics: [],
    usageBreakdown: [],
    metadata: {
      is_commitment_trueup: true,
      commitment_amount: formatMoney(committed),
      commitment_utilized: formatMoney(utilized),
    },
    trace: traceOf(trueUp, inputs),
  };
}
