import { ZERO } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type {
  CouponAssociation,
  PrepaidWallet,
  TaxAssociation,
} from '../../domain/adjustments/adjustments.js';
import { applyCoupons } from '../../domain/adjustments/apply-coupons.js';
import type { AdjustedLine } from '../../domain/adjustments/adjusted-line.js';
import type { AdjustedInvoice } from '../../domain/invoice/pricing/adjust-lines.js';
import type { InvoiceTotals } from '../../domain/invoice/invoice.js';
import { decodeValue } from '../../domain/invoice/snapshot/decode-value.js';
import {
  encodeValue,
  isPlainObject,
  type JsonValue,
} from '../../domain/invoice/snapshot/encode-value.js';
import { rulesOf } from '../../domain/invoice/pricing/rules.js';
import { Money, zeroMoney } from '../../domain/money/money.js';
import {
  documentCoupons,
  documentTaxes,
  type CountedCoupon,
  type CountedTax,
} from '../document-adjustments.js';
import type { DocumentLine, InvoiceHeader } from '../invoice-document.js';
import type { DocumentParts } from './document-parts.js';

/** Lines whose amounts were given, not computed, and what is done to them. */
export type GivenInvoice = {
  /** The version of the rules by which discounts, credits and taxes are taken (`rulesOf`). */
  readonly rulesVersion: number;
  readonly currency: string;
  /** Of the invoice; coupons apply whose dates overlap it. */
  readonly period: Interval;
  readonly lines: readonly DocumentLine[];
  readonly coupons: readonly CouponAssociation[];
  readonly taxes: readonly TaxAssociation[];
  /** The instant whose taxes count. */
  readonly atMs: InstantMs;
  /** Those that paid when it was finalized; absent before. */
  readonly wallets?: readonly PrepaidWallet[];
  /** The coupons of the grouped children that have lines here, by the id of each (29.2). */
  readonly children?: readonly GivenChild[];
};

/** A grouped child, whose coupons lower its own lines alone. */
type GivenChild = {
  readonly subscriptionId: string;
  readonly coupons: readonly CouponAssociation[];
};

const GIVEN = 'given lines';

/** Given lines, and what is done to them, as a text; `decodeGiven` returns an equal one. */
export function encodeGiven({ rulesVersion, ...given }: GivenInvoice): string {
  return JSON.stringify({ kind: GIVEN, rules: rulesVersion, given: encodeValue(given) });
}

/** What `encodeGiven` wrote; null for the inputs of a computed invoice. */
export function decodeGiven(text: string): GivenInvoice | null {
  const read: unknown = JSON.parse(text);
  if (!isPlainObject(read) || read['kind'] !== GIVEN) return null;
  const { rules: rulesVersion, given } = read;
  if (typeof rulesVersion !== 'number') {
    throw new TypeError('the given lines do not say by which rules they are computed');
  }
  // Written by `encodeGiven` from the same type.
  return {
    ...(decodeValue(given as JsonValue) as Omit<GivenInvoice, 'rulesVersion'>),
    rulesVersion,
  };
}

/** The records that the discounts and taxes of given lines name. */
export type GivenParties = {
  readonly coupons: readonly CountedCoupon[];
  readonly taxes: readonly CountedTax[];
};

/** The members of a header that follow from the lines. */
export type GivenTotals = Pick<
  InvoiceHeader,
  | 'subtotal'
  | 'total'
  | 'total_discount'
  | 'total_tax'
  | 'total_prepaid_credits_applied'
  | 'adjustment_amount'
  | 'amount_due'
  | 'amount_paid'
  | 'amount_remaining'
  | 'overpaid_amount'
>;

type GivenLine = AdjustedLine & { readonly row: DocumentLine };

function adjustable(row: DocumentLine, currency: string): GivenLine {
  const { subscription_line_item_id: id, price_type: type } = row;
  const zero = zeroMoney(currency);
  return {
    row,
    lineItem: id === null ? null : { id, price: { type } },
    amount: new Money(row.amount, currency),
    lineItemDiscount: zero,
    invoiceLevelDiscount: zero,
    prepaidCreditsApplied: zero,
    trace: { ...row.trace, discounts: [] },
  };
}

function totalsOf(totals: InvoiceTotals): GivenTotals {
  return {
    subtotal: totals.subtotal.value,
    total: totals.total.value,
    total_discount: totals.totalDiscount.value,
    total_tax: totals.totalTax.value,
    total_prepaid_credits_applied: totals.totalPrepaidCreditsApplied.value,
    adjustment_amount: totals.adjustmentAmount.value,
    amount_due: totals.amountDue.value,
    amount_paid: totals.amountPaid.value,
    amount_remaining: totals.amountRemaining.value,
    overpaid_amount: totals.overpaidAmount.value,
  };
}

/**
 * What is done to given lines: the same as to computed ones. Those of grouped children come behind
 * the others. Reads nothing.
 */
export function adjustGiven({
  lines,
  currency,
  children = [],
  rulesVersion,
  ...terms
}: GivenInvoice): AdjustedInvoice<GivenLine> {
  const linesOf = (subscriptionId: string | null): readonly GivenLine[] =>
    lines
      .filter((line) => line.subscription_id === subscriptionId)
      .map((line) => adjustable(line, currency));
  const { adjustLines } = rulesOf(rulesVersion);
  return adjustLines(linesOf(null), { wallets: [], ...terms, currency }, () => {
    const parts = children.map(({ subscriptionId, coupons }) => {
      return applyCoupons(linesOf(subscriptionId), { coupons, period: terms.period, currency });
    });
    return {
      lines: parts.flatMap((part) => part.lines),
      applications: parts.flatMap(({ applications }) => applications),
    };
  });
}

/** The lines of an adjusted invoice as they are stored. */
export function linesOfGiven({ lines }: AdjustedInvoice<GivenLine>): readonly DocumentLine[] {
  return lines.map(({ row, ...after }, position) => ({
    ...row,
    position,
    line_item_discount: after.lineItemDiscount.value,
    invoice_level_discount: after.invoiceLevelDiscount.value,
    prepaid_credits_applied: after.prepaidCreditsApplied.value,
    trace: { ...row.trace, discounts: after.trace.discounts },
  }));
}

/** The parts and sums of an invoice whose lines were given: coupons, then taxes. Reads nothing. */
export function documentOfGiven(
  given: GivenInvoice,
  parties: GivenParties,
): DocumentParts & { readonly totals: GivenTotals } {
  const adjusted = adjustGiven(given);
  const lines = linesOfGiven(adjusted);
  const taken = { lines, appliedAt: given.atMs };
  return {
    lines,
    coupons: documentCoupons(adjusted.couponApplications, parties.coupons, taken),
    taxes: documentTaxes(adjusted.taxes, parties.taxes, given.atMs),
    totals: totalsOf(adjusted.totals),
  };
}

/**
 * The sums of a CREDIT invoice: no coupons, credits or taxes, and no floor (docs/domain.md 13.2).
 */
export function totalsOfCredit(lines: readonly DocumentLine[]): GivenTotals {
  const subtotal = lines.reduce((sum, { amount }) => sum.plus(amount), ZERO);
  return {
    subtotal,
    total: subtotal,
    total_discount: ZERO,
    total_tax: ZERO,
    total_prepaid_credits_applied: ZERO,
    adjustment_amount: ZERO,
    amount_due: subtotal,
    amount_paid: ZERO,
    amount_remaining: ZERO,
    overpaid_amount: ZERO,
  };
}
