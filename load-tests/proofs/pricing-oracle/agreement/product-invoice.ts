import { plain, type Decimal } from '../../../../contract/number/decimal.js';
import { formatInstant } from '../../../../contract/instant.js';
import { buildInvoice } from '../../../../billing-api/domain/invoice/pricing/build-invoice.js';
import type {
  CommitmentInfo,
  InvoiceInputs,
  InvoiceResult,
  InvoiceLine as ProductLine,
  LineKind,
} from '../../../../billing-api/domain/invoice/invoice.js';
import {
  decodeSnapshot,
  encodeSnapshot,
} from '../../../../billing-api/domain/invoice/snapshot/invoice-snapshot.js';
import type { Money } from '../../../../billing-api/domain/money/money.js';
import { resultBytes } from '../../golden-invoices/result-bytes.js';
import { toText } from '../../usage-oracle/fraction.js';
import type { CommitmentTexts, InvoiceLine, PricedInvoice } from '../invoice.js';
import type { InvoiceQuestion } from '../invoice-question.js';
import { moneyText } from '../money.js';
import type { Subscription } from '../subscription.js';
import { fractionFrom } from './product-amounts.js';
import { ProductFinding } from './product-finding.js';
import { bothAnswers } from './product-document.js';
import { productInputs } from './product-inputs.js';

type Text = (amount: Money) => string;

/** Credits follow from plan changes, which the cases do not have. */
const KINDS: Readonly<Record<Exclude<LineKind, 'credit'>, InvoiceLine['kind']>> = {
  charge: 'charge',
  overage: 'overage',
  true_up: 'true-up',
};

function kindOf({ kind }: ProductLine): InvoiceLine['kind'] {
  if (kind === 'credit')
    throw new ProductFinding('an invoice of no plan change takes off a credit');
  return KINDS[kind];
}

function orNull<From, To>(value: From | null, convert: (value: From) => To): To | null {
  return value === null ? null : convert(value);
}

function plainText(value: Decimal): string {
  return toText(fractionFrom(value));
}

function figureText(currency: string, value: Decimal): string {
  try {
    return moneyText(currency, fractionFrom(value));
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new ProductFinding(`${plain(value)} is finer than ${currency}`);
  }
}

function productMoney(currency: string, amount: Money): string {
  if (amount.currency === currency) return figureText(currency, amount.value);
  throw new ProductFinding(`an amount is in ${amount.currency}, not in ${currency}`);
}

function commitmentOf(info: CommitmentInfo, money: Text): CommitmentTexts {
  return {
    type: info.type,
    amount: orNull(info.amount, plain),
    quantity: orNull(info.quantity, plainText),
    factor: orNull(info.overageFactor, plainText),
    hasTrueUp: info.isTrueUpEnabled,
    isWindowed: info.isWindowed,
    utilized: money(info.utilized),
    overage: money(info.overage),
    trueUp: money(info.trueUp),
  };
}

function lineOf(line: ProductLine, currency: string, money: Text): InvoiceLine {
  return {
    itemId: line.lineItem?.id ?? null,
    kind: kindOf(line),
    priceType: line.lineItem?.price.type ?? 'FIXED',
    periodStart: formatInstant(line.period.startMs),
    periodEnd: formatInstant(line.period.endMs),
    quantity: plainText(line.quantity),
    amount: money(line.amount),
    priceUnitAmount: orNull(line.priceUnitAmount, (value) => figureText(currency, value)),
    adjustedEntitlementQuantity: orNull(line.adjustedEntitlementQuantity, plainText),
    commitment: orNull(line.commitmentInfo, (info) => commitmentOf(info, money)),
    lineDiscount: money(line.lineItemDiscount),
    invoiceDiscount: money(line.invoiceLevelDiscount),
    prepaidCredits: money(line.prepaidCreditsApplied),
  };
}

/**
 * Computes the invoice again from its stored inputs (docs/domain.md 13.1).
 * @throws ProductFinding when a byte of it differs.
 */
function requireSameAgain(inputs: InvoiceInputs, result: InvoiceResult): void {
  const { inputs: stored } = decodeSnapshot(
    encodeSnapshot({ rulesVersion: 1, inputs, timeZoneData: 'any', watermark: null }),
  );
  if (resultBytes(buildInvoice(stored)) === resultBytes(result)) return;
  throw new ProductFinding('the invoice of the stored inputs is another');
}

/**
 * Answers about the invoice from its rows, as they would be stored (docs/domain.md 13.6).
 * @throws ProductFinding when a byte differs from the answer about the computed invoice.
 */
function requireSameAnswer(inputs: InvoiceInputs, result: InvoiceResult): void {
  const { computed, stored } = bothAnswers(inputs, result);
  if (stored === computed) return;
  throw new ProductFinding('the answer about the stored invoice is another');
}

/**
 * The product's invoice in the oracle's words.
 * @throws ProductFinding for money that is finer than the currency, and where the stored inputs
 *   give another invoice, or the stored invoice another answer.
 */
export function productInvoice(
  subscription: Subscription,
  question: InvoiceQuestion,
): PricedInvoice {
  const inputs = productInputs(subscription, question);
  const result = buildInvoice(inputs);
  requireSameAgain(inputs, result);
  requireSameAnswer(inputs, result);
  const { currency } = subscription;
  const money: Text = (amount) => productMoney(currency, amount);
  const { totals } = result;
  return {
    periodStart: formatInstant(result.period.startMs),
    periodEnd: formatInstant(result.period.endMs),
    dueAt: formatInstant(result.dueMs),
    lines: result.lines.map((line) => lineOf(line, currency, money)),
    totals: {
      subtotal: money(totals.subtotal),
      totalDiscount: money(totals.totalDiscount),
      totalTax: money(totals.totalTax),
      totalPrepaidCredits: money(totals.totalPrepaidCreditsApplied),
      total: money(totals.total),
    },
    taxes: result.taxes.map(({ association, taxAmount }) => ({
      id: association.id,
      amount: money(taxAmount),
    })),
    coupons: result.couponApplications.map(({ associationId, discountedAmount }) => ({
      id: associationId,
      discount: money(discountedAmount),
    })),
  };
}
