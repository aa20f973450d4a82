import { decimalOf } from '../../../../contract/number/decimal.js';
import type { Interval } from '../../../../contract/instant.js';
import { usageSince } from '../../../../billing-api/domain/invoice/invoice-scope.js';
import type { PeriodLedger } from '../../../../billing-api/domain/periods/period-ledger.js';
import type {
  EarlierSegment,
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

function invoicedLines(
  earlier: readonly EarlierInvoice[],
  isOfSegment: (startMs: number) => boolean,
): readonly InvoicedLine[] {
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
              ...(isOfSegment(start) ? { isOfSegment: true } : {}),
            },
          ],
    ),
  );
}

/** What invoices of earlier parts of a split period charged for usage. */
function earlierSegments(
  terms: PeriodLedger,
  row: Interval,
  { earlier }: InvoiceQuestion,
): readonly EarlierSegment[] {
  const sinceMs = usageSince(terms, row);
  if (sinceMs === null) return [];
  return earlier
    .filter(({ period }) => period.start >= sinceMs && period.end <= row.startMs)
    .flatMap(({ lines }) => lines)
    .flatMap(({ itemId, amount }) =>
      itemId === null || amount === undefined
        ? []
        : [{ invoiceId: 'earlier', lineItemId: itemId, amount: decimalOf(amount) }],
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
  const sinceMs = usageSince(terms, period);
  const segments = earlierSegments(terms, period, question);
  const plan: LineSelectionInputs = {
    subscription: terms,
    period,
    ...(sinceMs === null ? {} : { usageSinceMs: sinceMs }),
    referencePoint,
    // Their order says nothing: the product puts them in line order and order of creation.
    lineItems: subscription.items.map((item) => productItem(subscription, item)).toReversed(),
    alreadyInvoiced: invoicedLines(
      question.earlier,
      (lineStart) => sinceMs !== null && lineStart >= sinceMs,
    ).toReversed(),
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
    ...(segments.length === 0 ? {} : { earlierSegments: segments }),
  };
}
