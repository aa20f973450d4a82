import { ONE, ZERO } from '../../../../contract/decimal.js';
import { formatMoney, minorDigitsOf } from '../../money.js';
import type { TrueUp } from './charge-lines.js';
import type { InvoiceInputs, InvoiceLine } from '../invoice.js';
import type { LineTrace } from '../line-trace.js';
import { UNADJUSTED } from './write-line.js';

function traceOf(trueUp: TrueUp, { subscription, period }: InvoiceInputs): LineTrace {
  const { commitment, window, utilized, amount } = trueUp;
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
      amount: commitment.amount,
      window,
      isLast: true,
      usedBefore: utilized,
      inCommitment: ZERO,
      overageBase: ZERO,
      overageFactor: commitment.overageFactor,
      overage: ZERO,
      trueUp: amount,
      splitOf: null,
    },
    proration: null,
    rounding: { exact: amount, rounded: amount, digits, mode: 'half_up_away_from_zero' },
    discounts: [],
  };
}

/**
 * The FIXED line of quantity 1 for the unused part of a subscription's commitment (docs/domain.md
 * 11.1).
 */
export function trueUpLine(trueUp: TrueUp, inputs: InvoiceInputs): InvoiceLine {
  const { commitment, utilized, amount } = trueUp;
  const { currency } = inputs.subscription;
  return {
    kind: 'true_up',
    lineItem: null,
    displayName: `${commitment.planDisplayName} True Up`,
    period: inputs.period,
    quantity: ONE,
    adjustedEntitlementQuantity: null,
    amount,
    priceUnitAmount: null,
    ...UNADJUSTED,
    commitmentInfo: null,
    usageAnalytics: [],
    usageBreakdown: [],
    metadata: {
      is_commitment_trueup: true,
      commitment_amount: formatMoney(commitment.amount, currency),
      commitment_utilized: formatMoney(utilized, currency),
    },
    trace: traceOf(trueUp, inputs),
  };
}
