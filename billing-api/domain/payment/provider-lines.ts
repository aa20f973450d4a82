import { sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';

/** A line of an invoice as a provider gets it: what it is for, and its amount. */
export type ProviderLine = {
  readonly description: string;
  readonly amount: Decimal;
};

/** What the lines for a provider are made of. */
export type LinesToSend = {
  readonly lines: readonly ProviderLine[];
  readonly totalDiscount: Decimal;
  readonly creditsApplied: Decimal;
  readonly totalTax: Decimal;
  readonly total: Decimal;
  /** What was paid before, so that only the rest is asked for. */
  readonly paidAlready: Decimal;
};

/** Lines that are more than a provider takes: the first ones, and one with the sum of the rest. */
function summarized(lines: readonly ProviderLine[], max: number): readonly ProviderLine[] {
  if (lines.length <= max) return lines;
  const rest = lines.slice(max - 1);
  const amount = sumOf(rest.map((line) => line.amount));
  return [...lines.slice(0, max - 1), { description: `${rest.length} further lines`, amount }];
}

/**
 * The lines of an invoice for a provider that takes at most `max` of them. They are the lines of
 * the invoice, and one each for discounts, credits, tax and the amount that is paid already. They
 * add up to what is left to pay, exactly. A total that would be negative is zero (docs/domain.md
 * 13.2), for which there is a line too.
 */
export function providerLines(invoice: LinesToSend, max: number): readonly ProviderLine[] {
  const beside = [
    { description: 'Discounts', amount: invoice.totalDiscount.negated() },
    { description: 'Prepaid credits', amount: invoice.creditsApplied.negated() },
    { description: 'Tax', amount: invoice.totalTax },
  ];
  const sum = sumOf([...invoice.lines, ...beside].map(({ amount }) => amount));
  const added = [
    ...beside,
    { description: 'Not given back', amount: invoice.total.minus(sum) },
    { description: 'Paid already', amount: invoice.paidAlready.negated() },
  ].filter(({ amount }) => !amount.equals(ZERO));
  return [...summarized(invoice.lines, max - added.length), ...added];
}
