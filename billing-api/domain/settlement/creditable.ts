import { Decimal, maxOf, minOf, sumOf, ZERO } from '../../../contract/number/decimal.js';
import { minorDigitsOf } from '../money/minor-digits.js';

/** A line of an invoice, as far as credit notes on it go. */
export type CreditedLine = {
  /** Its amount after discounts. */
  readonly net: Decimal;
  /** What notes and credits for unused time have of it so far. */
  readonly taken: Decimal;
};

/** What notes may still take of a line, and what the line costs. */
export type Creditable = { readonly most: Decimal; readonly cost: Decimal };

/** The share of a line in the taxes of its invoice, rounded down and up to minor units. */
function taxShare(
  tax: Decimal,
  { net, nets, currency }: { readonly net: Decimal; readonly nets: Decimal; currency: string },
): { readonly down: Decimal; readonly up: Decimal } {
  if (!nets.greaterThan(ZERO)) return { down: ZERO, up: ZERO };
  const unit = new Decimal(10).pow(-minorDigitsOf(currency));
  const product = tax.dividedBy(unit).times(net);
  const whole = product.divToInt(nets);
  const isExact = whole.times(nets).equals(product);
  return { down: whole.times(unit), up: (isExact ? whole : whole.plus(1)).times(unit) };
}

/**
 * What notes on one line of an invoice may still be (docs/domain.md 19.2): what the line costs with
 * its share of the taxes, rounded up, and never more than all notes leave of the invoice. The last
 * line that is left takes all of that, so that notes of any order and size add up to the invoice.
 */
export function creditableOf(
  { tax, currency }: { readonly tax: Decimal; readonly currency: string },
  lines: readonly CreditedLine[],
  line: CreditedLine,
): Creditable {
  const netOf = (one: CreditedLine): Decimal => maxOf(ZERO, one.net);
  const nets = sumOf(lines.map(netOf));
  const costOf = (one: CreditedLine, rounded: 'down' | 'up'): Decimal =>
    netOf(one).plus(taxShare(tax, { net: netOf(one), nets, currency })[rounded]);
  const cost = costOf(line, 'up');
  if (!cost.greaterThan(ZERO)) return { most: ZERO, cost };
  const left = nets.plus(tax).minus(sumOf(lines.map(({ taken }) => taken)));
  const isLast = lines.every(
    (one) => one === line || one.taken.greaterThanOrEqualTo(costOf(one, 'down')),
  );
  const most = isLast ? left : minOf(cost.minus(line.taken), left);
  return { most: maxOf(ZERO, most), cost };
}
