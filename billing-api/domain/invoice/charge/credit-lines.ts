import { ONE } from '../../../../contract/number/decimal.js';
import { minorDigitsOf } from '../../money/minor-digits.js';
import {
  atLeastZero,
  formatMoney,
  lesserOf,
  roundMoney,
  sumOfMoney,
  zeroMoney,
  type Money,
} from '../../money/money.js';
import type { InvoiceInputs, InvoiceLine, UnusedCharge } from '../invoice.js';
import { unadjusted } from './write-line.js';

type Facts<C extends string> = Pick<InvoiceInputs<C>, 'subscription'>;

/** What the fixed charges of an invoice cost after their discounts: no more is taken off. */
function limitOf<C extends string>(lines: readonly InvoiceLine<C>[], currency: C): Money<C> {
  const fixed = lines.filter(({ lineItem }) => (lineItem?.price.type ?? 'FIXED') === 'FIXED');
  const net = fixed.map((line) =>
    line.amount.minus(line.lineItemDiscount).minus(line.invoiceLevelDiscount),
  );
  return atLeastZero(sumOfMoney(net, currency));
}

function creditLine<C extends string>(
  { lineItem, period, proration, exact }: UnusedCharge,
  taken: Money<C>,
  { subscription: { currency, timezone } }: Facts<C>,
): InvoiceLine<C> {
  const amount = zeroMoney(currency).minus(taken);
  const rounding = {
    exact: exact.negated(),
    rounded: amount,
    digits: minorDigitsOf(currency),
    mode: 'half_up_away_from_zero' as const,
  };
  return {
    kind: 'credit',
    lineItem,
    period,
    amount,
    displayName: `Unused time of ${lineItem.displayName}`,
    quantity: ONE,
    adjustedEntitlementQuantity: null,
    priceUnitAmount: null,
    ...unadjusted(currency),
    commitmentInfo: null,
    usageAnalytics: [],
    usageBreakdown: [],
    metadata: {
      is_proration_credit: true,
      credit_amount: formatMoney(roundMoney(exact, currency)),
    },
    trace: {
      timezone,
      window: period,
      usage: null,
      pricing: null,
      windows: null,
      commitment: null,
      proration,
      rounding,
      discounts: [],
    },
  };
}

/**
 * Takes unused charges off an invoice, in their order, until its fixed charges are used up: one
 * negative line for each of which something is taken (docs/domain.md 25.3).
 */
export function creditLines<C extends string>(
  unused: readonly UnusedCharge[],
  lines: readonly InvoiceLine<C>[],
  facts: Facts<C>,
): readonly InvoiceLine<C>[] {
  const { currency } = facts.subscription;
  let left = limitOf(lines, currency);
  return unused.flatMap((one) => {
    const taken = lesserOf(left, roundMoney(one.exact, currency));
    left = left.minus(taken);
    return taken.isZero() ? [] : [creditLine(one, taken, facts)];
  });
}
