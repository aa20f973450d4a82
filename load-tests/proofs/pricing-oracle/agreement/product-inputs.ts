import { decimalOf } from '../../../../contract/decimal.js';
import type { Interval } from '../../../../contract/instant.js';
import {
  firstPeriod,
  nextPeriod,
} from '../../../../billing-api/domain/calendar/billing-periods.js';
import type {
  InvoiceInputs,
  InvoicedLine,
  LineSelectionInputs,
  PriorCommitment,
} from '../../../../billing-api/domain/invoice/invoice.js';
import { requiredUsage } from '../../../../billing-api/domain/invoice/required-usage.js';
import { selectLines } from '../../../../billing-api/domain/invoice/select-lines.js';
import type { SubscriptionTerms } from '../../../../billing-api/domain/invoice/subscription-terms.js';
import type { EarlierInvoice, InvoiceQuestion } from '../invoice-question.js';
import type { Subscription } from '../subscription.js';
import { productCoupons, productTaxes, productWallets } from './product-adjustments.js';
import { productEntitlements, productItem, productTerms } from './product-subscription.js';
import { productUsage } from './product-usage.js';

function periodAt(terms: SubscriptionTerms, index: number): Interval {
  let period = firstPeriod(terms);
  for (let passed = 0; passed < index; passed += 1) {
    const next = nextPeriod(terms, period);
    if (next === null) throw new Error(`the product has no period ${passed + 1}`);
    period = next;
  }
  return period;
}

function invoicedLines(earlier: readonly EarlierInvoice[]): readonly InvoicedLine[] {
  return earlier.flatMap(({ lines }) =>
    lines.flatMap(({ itemId, start, end }) =>
      itemId === null
        ? []
        : [
            {
              lineItemId: itemId,
              priceId: `price of ${itemId}`,
              period: { startMs: start, endMs: end },
            },
          ],
    ),
  );
}

/** The item that continues another one and exists before `until`, else the item itself. */
function presentSuccessor({ items }: Subscription, itemId: string, until: number): string {
  const successor = items.find(
    (item) => item.type === 'USAGE' && item.predecessorIds.includes(itemId) && item.start < until,
  );
  return successor?.id ?? itemId;
}

function priorCommitments(
  subscription: Subscription,
  { earlier }: InvoiceQuestion,
  until: number,
): readonly PriorCommitment[] {
  const isOfSubscription = subscription.commitment !== null;
  return earlier.flatMap(({ period, lines }) =>
    lines.flatMap(({ itemId, inCommitment, utilized }) =>
      itemId === null
        ? []
        : [
            {
              period: { startMs: period.start, endMs: period.end },
              lineItemId: presentSuccessor(subscription, itemId, until),
              amount: decimalOf(isOfSubscription ? inCommitment : utilized),
            },
          ],
    ),
  );
}

/** Everything in the product's types; the product itself says which usage it reads. */
export function productInputs(
  subscription: Subscription,
  question: InvoiceQuestion,
): InvoiceInputs {
  const terms = productTerms(subscription);
  const period = periodAt(terms, question.rowIndex);
  const isOpening = question.reference === 'period_start';
  const plan: LineSelectionInputs = {
    subscription: terms,
    period,
    referencePoint: isOpening ? 'period_start' : 'period_end',
    // Their order says nothing: the product puts them in line order and order of creation.
    lineItems: subscription.items.map((item) => productItem(subscription, item)).toReversed(),
    alreadyInvoiced: invoicedLines(question.earlier).toReversed(),
    entitlements: productEntitlements(subscription).toReversed(),
  };
  const required = requiredUsage(selectLines(plan), terms);
  const usage = required.map(
    (requirement) => [requirement.lineItemId, productUsage(subscription, requirement)] as const,
  );
  return {
    ...plan,
    usage: new Map(usage),
    asOfMs: question.now ?? (isOpening ? period.startMs : period.endMs),
    priorCommitments: priorCommitments(subscription, question, period.endMs),
    coupons: productCoupons(subscription, question.earlier).toReversed(),
    taxes: productTaxes(subscription).toReversed(),
    wallets: productWallets(subscription).toReversed(),
    hideZeroCharges: false,
  };
}
