import { maxOf, minOf, sumOf, ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { mustGet } from '../../../runtime/failure.js';
import { allocateByWeight } from '../money/allocate.js';
import { Money, roundToMinorDigits } from '../money/money.js';
import { creditableOf } from './creditable.js';
import type { CreditPart } from './split-credit.js';

/** A line of an invoice with what was given back of it, without taxes and with them. */
export type GivenBackLine = {
  readonly lineId: string;
  /** After discounts. */
  readonly net: Decimal;
  readonly takenNet: Decimal;
  readonly taken: Decimal;
};

/** An invoice with taxes of which something is given back. */
export type TaxedInvoice = {
  readonly currency: string;
  readonly tax: Decimal;
  /** What was refunded of its payments, with taxes; that names no line. */
  readonly refunded: Decimal;
  readonly lines: readonly GivenBackLine[];
};

/** What is given back of a line: with its taxes it is what the customer gets. */
export type TaxedPart = { readonly lineId: string; readonly net: Decimal; readonly tax: Decimal };

export const grossOf = ({ net, tax }: Pick<TaxedPart, 'net' | 'tax'>): Decimal => net.plus(tax);

/** What each line has of the taxes of its invoice, to the smallest unit. */
function taxesOf({ lines, tax, currency }: TaxedInvoice): ReadonlyMap<string, Decimal> {
  const weightOf = ({ net }: GivenBackLine): Decimal => maxOf(ZERO, net);
  const shares = allocateByWeight(new Money(tax, currency), lines, weightOf);
  return new Map(shares.map(([{ lineId }, { value }]) => [lineId, value]));
}

/**
 * Gives back of a line, with the share of its taxes that all of it that was given back has by then,
 * less what earlier ones had of that: so it is rounded once, and the last part has the rest.
 */
function partOf(
  invoice: TaxedInvoice,
  lines: readonly GivenBackLine[],
  { lineId, amount, ofLine }: CreditPart & { readonly ofLine: Decimal },
): TaxedPart {
  const line = lines.find((one) => one.lineId === lineId);
  if (line === undefined || !line.net.greaterThan(ZERO)) return { lineId, net: amount, tax: ZERO };
  const all = minOf(line.net, line.takenNet.plus(amount));
  const share = roundToMinorDigits(ofLine.times(all).dividedBy(line.net), invoice.currency);
  const { most } = creditableOf(invoice, lines, line);
  const given = sumOf(lines.map(({ taken }) => taken)).plus(invoice.refunded);
  const left = sumOf(lines.map(({ net }) => maxOf(ZERO, net)))
    .plus(invoice.tax)
    .minus(given);
  const beside = minOf(most, left).minus(amount);
  const tax = minOf(share.minus(line.taken.minus(line.takenNet)), beside);
  return { lineId, net: amount, tax: maxOf(ZERO, tax) };
}

/** Parts of a credit, each with its share of the taxes of the invoice (docs/domain.md 23.1). */
export function withTaxes(
  invoice: TaxedInvoice,
  parts: readonly CreditPart[],
): readonly TaxedPart[] {
  if (invoice.tax.isZero()) {
    return parts.map(({ lineId, amount: net }) => ({ lineId, net, tax: ZERO }));
  }
  const taxes = taxesOf(invoice);
  let { lines } = invoice;
  return parts.map((part) => {
    const taxed = partOf(invoice, lines, {
      ...part,
      ofLine: mustGet(taxes, part.lineId, 'the taxes of a line'),
    });
    lines = lines.map((line) =>
      line.lineId === part.lineId
        ? {
            ...line,
            takenNet: line.takenNet.plus(taxed.net),
            taken: line.taken.plus(grossOf(taxed)),
          }
        : line,
    );
    return taxed;
  });
}

/** What of parts is up to an amount with taxes, in their order, and what is beyond it. */
export type Divided<P extends TaxedPart> = {
  readonly within: readonly P[];
  readonly beyond: readonly P[];
};

function divide<P extends TaxedPart>(
  parts: readonly P[],
  cut: (part: P) => Pick<TaxedPart, 'net' | 'tax'>,
): Divided<P> {
  const isSome = (part: P): boolean => grossOf(part).greaterThan(ZERO);
  const cuts = parts.map((part) => ({ part, own: cut(part) }));
  return {
    within: cuts.map(({ part, own }) => ({ ...part, ...own })).filter(isSome),
    beyond: cuts
      .map(({ part, own }) => ({
        ...part,
        net: part.net.minus(own.net),
        tax: part.tax.minus(own.tax),
      }))
      .filter(isSome),
  };
}

/** Divides parts by what their invoice leaves to be paid, which they lower first. */
export function divideByOwed<P extends TaxedPart>(
  parts: readonly P[],
  owed: Decimal,
  currency: string,
): Divided<P> {
  let left = maxOf(ZERO, owed);
  return divide(parts, (part) => {
    const gross = grossOf(part);
    const taken = minOf(left, gross);
    left = left.minus(taken);
    if (taken.equals(gross)) return part;
    const net = roundToMinorDigits(part.net.times(taken).dividedBy(gross), currency);
    return { net, tax: taken.minus(net) };
  });
}

/** Divides parts of a line item by what another invoice has set off of them, without taxes. */
export function divideByNet<P extends TaxedPart>(
  parts: readonly P[],
  most: Decimal,
  currency: string,
): Divided<P> {
  let left = most;
  return divide(parts, (part) => {
    const net = minOf(left, part.net);
    left = left.minus(net);
    if (net.equals(part.net)) return part;
    return { net, tax: roundToMinorDigits(part.tax.times(net).dividedBy(part.net), currency) };
  });
}
