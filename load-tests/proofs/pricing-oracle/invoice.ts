import { add, toText, zero, type Fraction } from '../usage-oracle/fraction.js';
import type { CommitmentInfo } from './draft-line.js';
import { draftLines } from './draft-lines.js';
import { withDiscounts, type DiscountedLine } from './discounts.js';
import { exactText, greater, subtract, sum } from './exact.js';
import type { InvoiceQuestion } from './invoice-question.js';
import { invoicePeriodsOf } from './line-selection.js';
import { moneyText } from './money.js';
import { prepaidCredits } from './prepaid.js';
import type { Subscription } from './subscription.js';
import { taxesThatApply, taxOn } from './taxes.js';
import type { Range } from '../usage-oracle/windows.js';

/** Instants as ISO texts, so that a difference can be read. */
export type InvoiceLine = {
  readonly itemId: string | null;
  readonly kind: 'charge' | 'overage' | 'true-up';
  readonly priceType: 'USAGE' | 'FIXED';
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly quantity: string;
  readonly amount: string;
  readonly priceUnitAmount: string | null;
  readonly adjustedEntitlementQuantity: string | null;
  readonly commitment: CommitmentTexts | null;
  readonly lineDiscount: string;
  readonly invoiceDiscount: string;
  readonly prepaidCredits: string;
};

export type CommitmentTexts = Pick<CommitmentInfo, 'type' | 'hasTrueUp' | 'isWindowed'> & {
  /** Money, exact. */
  readonly amount: string | null;
  readonly quantity: string | null;
  readonly factor: string | null;
  readonly utilized: string;
  readonly overage: string;
  readonly trueUp: string;
};

export type Totals = {
  readonly subtotal: string;
  readonly totalDiscount: string;
  readonly totalTax: string;
  readonly totalPrepaidCredits: string;
  readonly total: string;
};

export type PricedInvoice = {
  readonly periodStart: string;
  readonly periodEnd: string;
  readonly dueAt: string;
  readonly lines: readonly InvoiceLine[];
  readonly totals: Totals;
  readonly taxes: readonly { readonly id: string; readonly amount: string }[];
  readonly coupons: readonly { readonly id: string; readonly discount: string }[];
};

type Text = (value: Fraction) => string;

function textOrNull(value: Fraction | null, text: Text): string | null {
  return value === null ? null : text(value);
}

function commitmentTexts(info: CommitmentInfo, money: Text): CommitmentTexts {
  return {
    ...info,
    amount: textOrNull(info.amount, exactText),
    quantity: textOrNull(info.quantity, toText),
    factor: textOrNull(info.factor, toText),
    utilized: money(info.utilized),
    overage: money(info.overage),
    trueUp: money(info.trueUp),
  };
}

function lineTexts(line: DiscountedLine, prepaid: Fraction, money: Text): InvoiceLine {
  return {
    itemId: line.itemId,
    kind: line.kind,
    priceType: line.priceType,
    periodStart: new Date(line.period.start).toISOString(),
    periodEnd: new Date(line.period.end).toISOString(),
    quantity: toText(line.quantity),
    amount: money(line.amount),
    priceUnitAmount: textOrNull(line.priceUnitAmount, money),
    adjustedEntitlementQuantity: textOrNull(line.adjusted, toText),
    commitment: line.commitment === null ? null : commitmentTexts(line.commitment, money),
    lineDiscount: money(line.lineDiscount),
    invoiceDiscount: money(line.invoiceDiscount),
    prepaidCredits: money(prepaid),
  };
}

/** Days until an invoice is due, while there is no setting (docs/domain.md 16). */
const DUE_MS = 24 * 3_600_000;

/** After the period, and of an opening invoice after its start (docs/domain.md 16). */
function dueAt({ start, end }: Range, { reference }: InvoiceQuestion): number {
  const isOpening = reference === 'trial_start' || reference === 'period_start';
  return (isOpening ? start : end) + DUE_MS;
}

/** Lines and totals of an invoice as if it were finalized now (docs/domain.md 13.1, 13.2). */
export function priceInvoice(subscription: Subscription, question: InvoiceQuestion): PricedInvoice {
  const { currency } = subscription;
  const money = (value: Fraction): string => moneyText(currency, value);
  const { row: period } = invoicePeriodsOf(subscription, question);
  const drafts = draftLines(subscription, question);
  const { earlier } = question;
  const { lines, applications } = withDiscounts(subscription, drafts, { period, earlier });
  const subtotal = sum(lines.map(({ amount }) => amount));
  const discount = sum(lines.map((each) => add(each.lineDiscount, each.invoiceDiscount)));
  const taxable = subtract(subtotal, discount);
  const taxes = taxesThatApply(subscription.taxes).map((rate) => ({
    id: rate.id,
    amount: taxOn(currency, taxable, rate),
  }));
  const tax = sum(taxes.map(({ amount }) => amount));
  const prepaid = prepaidCredits(subscription, lines);
  const total = greater(zero, add(subtract(taxable, sum(prepaid)), tax));
  return {
    periodStart: new Date(period.start).toISOString(),
    periodEnd: new Date(period.end).toISOString(),
    dueAt: new Date(dueAt(period, question)).toISOString(),
    lines: lines.map((line, index) => lineTexts(line, prepaid[index] ?? zero, money)),
    totals: {
      subtotal: money(subtotal),
      totalDiscount: money(discount),
      totalTax: money(tax),
      totalPrepaidCredits: money(sum(prepaid)),
      total: money(total),
    },
    taxes: taxes.map(({ id, amount }) => ({ id, amount: money(amount) })),
    coupons: applications.map(({ couponId, discount: each }) => ({
      id: couponId,
      discount: money(each),
    })),
  };
}
