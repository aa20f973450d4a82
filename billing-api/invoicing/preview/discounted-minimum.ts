import type { InvoiceLine, InvoiceResult } from '../../domain/invoice/invoice.js';
import { formatMoney, sumOfMoney } from '../../domain/money/money.js';

/** Whether a line belongs to a commitment that is charged in full, though less was used. */
function isTruedUp({ kind, commitmentInfo }: InvoiceLine): boolean {
  return kind === 'true_up' || commitmentInfo?.trueUp.isZero() === false;
}

/** The lines that together make a committed minimum. */
function linesOfMinimum(lines: readonly InvoiceLine[]): readonly InvoiceLine[] {
  const hasOwn = lines.some(({ kind }) => kind === 'true_up');
  const isWithin = ({ trace: { commitment } }: InvoiceLine): boolean =>
    hasOwn && commitment?.level === 'subscription';
  return lines.filter((line) => isTruedUp(line) || isWithin(line));
}

/** That coupons lower a committed minimum, which holds before discounts (docs/domain.md 14.5). */
export function discountedMinimumOf({ lines, currency }: InvoiceResult): readonly string[] {
  const ofMinimum = linesOfMinimum(lines);
  const discounts = ofMinimum.map((line) => line.lineItemDiscount.plus(line.invoiceLevelDiscount));
  const taken = sumOfMoney(discounts, currency);
  if (taken.isZero()) return [];
  return [
    `coupons take ${formatMoney(taken)} ${currency} off charges of a committed minimum, which holds before discounts`,
  ];
}
