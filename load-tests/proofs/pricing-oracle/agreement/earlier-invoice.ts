import type { Range } from '../../usage-oracle/windows.js';
import type { InvoiceLine, PricedInvoice } from '../invoice.js';
import type { EarlierInvoice, EarlierLine } from '../invoice-question.js';

function earlierLine(line: InvoiceLine): EarlierLine {
  const isInside = line.priceType === 'USAGE' && line.kind === 'charge';
  return {
    itemId: line.itemId,
    start: Date.parse(line.periodStart),
    end: Date.parse(line.periodEnd),
    amount: line.amount,
    inCommitment: isInside ? line.amount : '0',
    // Commitments of buckets share nothing with other segments (docs/domain.md 11.3).
    utilized: line.commitment?.isWindowed === false ? line.commitment.utilized : '0',
  };
}

/** A priced invoice of a period as later ones know it. */
export function earlierInvoice(period: Range, { lines, coupons }: PricedInvoice): EarlierInvoice {
  return {
    period: { start: period.start, end: period.end },
    lines: lines.map(earlierLine),
    appliedCouponIds: coupons.map(({ id }) => id),
  };
}
