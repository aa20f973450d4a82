import { decimalOf } from '../../../../contract/decimal.js';
import type {
  InvoiceInputs,
  InvoicedLine,
  LineSelectionInputs,
  PriorCommitment,
  ReferencePoint,
} from '../../../../billing-api/domain/invoice/invoice.js';
import { requiredUsage } from '../../../../billing-api/domain/invoice/required-usage.js';
import { selectLines } from '../../../../billing-api/domain/invoice/select-lines.js';
import type { EarlierInvoice, InvoiceQuestion, Reference } from '../invoice-question.js';
import type { Subscription } from '../subscription.js';
import { productCoupons, productTaxes, productWallets } from './product-adjustments.js';
import { productRow } from './product-ledger.js';
import { productEntitlements, productItem, productTerms } from './product-subscription.js';
import { productUsage } from './product-usage.js';

const REFERENCE_POINTS: Readonly<Record<Reference, ReferencePoint>> = {
  trial_start: 'period_start',
  period_start: 'period_start',
  threshold: 'threshold',
  period_end: 'period_end',
  preview: 'period_end',
};

function invoicedLines(earlier: readonly EarlierInvoice[]): readonly InvoicedLine[] {
  return earlier.flatMap(({ lines }) =>
    lines.flatMap(({ itemId, start, end }) =>
      itemId === null
        ? []
        : [
            {
              invoiceId: 'earlier',
              lineItemId: itemId,
              priceId: `price of ${itemId}`,
              period: { startMs: start, endMs: end },
            },
          ],
    ),
  );
}

function priorCommitments(
  subscription: Subscription,
  { earlier }: InvoiceQuestion,
): readonly PriorCommitment[] {
  const isOfSubscription = subscription.commitment !== null;
  return earlier.flatMap(({ period, lines }) =>
    lines.flatMap(({ itemId, inCommitment, utilized }) =>
      itemId === null
        ? []
        : [
            {
              invoiceId: 'earlier',
              period: { startMs: period.start, endMs: period.end },
              lineItemId: itemId,
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
  const { startMs, endMs } = productRow(terms, question.rowIndex);
  const period = { startMs, endMs };
  const referencePoint = REFERENCE_POINTS[question.reference];
  const isOpening = referencePoint === 'period_start';
  const plan: LineSelectionInputs = {
    subscription: terms,
    period,
    referencePoint,
    // Their order says nothing: the product puts them in line order and order of creation.
    lineItems: subscription.items.map((item) => productItem(subscription, item)).toReversed(),
    alreadyInvoiced: invoicedLines(question.earlier).toReversed(),
    entitlements: productEntitlements(subscription).toReversed(),
  };
  const required = requiredUsage(selectLines(plan));
  const usage = required.map(
    (requirement) => [requirement.lineItemId, productUsage(subscription, requirement)] as const,
  );
  return {
    ...plan,
    usage: new Map(usage),
    asOfMs: question.now ?? (isOpening ? period.startMs : period.endMs),
    priorCommitments: priorCommitments(subscription, question),
    coupons: productCoupons(subscription, question.earlier).toReversed(),
    taxes: productTaxes(subscription).toReversed(),
    wallets: productWallets(subscription).toReversed(),
    dueDays: 1,
    hideZeroCharges: false,
  };
}
