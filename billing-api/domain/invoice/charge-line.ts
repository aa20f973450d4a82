import type { Decimal } from '../../../contract/decimal.js';
import { minorDigitsOf, roundMoney } from '../money.js';
import type { Price } from '../price.js';
import { ratePrice } from '../pricing/rate-price.js';
import type { LineItem } from '../subscription.js';
import type { InvoiceLine, LineUsage, PlannedLine, Proration, UsageTrace } from './invoice.js';
import { splitBySource, splitByGrouping } from './split-usage.js';

/**
 * One line of an invoice: quantity, price, partial period, one rounding at the end (domain.md
 * 13.1.2 b, c, e). `usage` is null exactly for FIXED lines.
 */
export function chargeLine(
  planned: PlannedLine,
  usage: LineUsage | null,
  context: { readonly currency: string; readonly timezone: string },
): InvoiceLine {
  const { lineItem, period, proration } = planned;
  const { currency, timezone } = context;
  const quantity = usage === null ? lineItem.quantity : usage.usage;
  const rated = ratePrice(lineItem.price, quantity);
  const exact = proration === null ? rated.amount : prorate(rated.amount, proration);
  const amount = roundMoney(exact, currency);
  return {
    lineItem,
    period,
    quantity,
    amount,
    priceUnitAmount: priceUnitAmountOf(amount, lineItem.price),
    usageAnalytics: splitBySource(amount, usage?.bySource ?? [], currency),
    usageBreakdown: splitByGrouping(amount, usage?.byGrouping ?? [], currency),
    trace: {
      timezone,
      window: period,
      usage: usage === null ? null : usageTraceOf(lineItem, usage),
      pricing: rated.trace,
      proration,
      rounding: {
        exact,
        rounded: amount,
        digits: minorDigitsOf(currency),
        mode: 'half_up_away_from_zero',
      },
    },
  };
}

/** Multiplies before it divides, so that a full period takes nothing away. */
function prorate(charge: Decimal, { coveredMs, fullMs }: Proration): Decimal {
  return charge.times(coveredMs).dividedBy(fullMs);
}

/** The line amount in the price's own unit, rounded like the base currency (domain.md 8.6). */
function priceUnitAmountOf(amount: Decimal, price: Price): Decimal | null {
  const figures = price.priceUnitFigures;
  return figures === null
    ? null
    : roundMoney(amount.dividedBy(figures.conversionRate), price.currency);
}

function usageTraceOf({ meter, price }: LineItem, usage: LineUsage): UsageTrace {
  if (meter === null) throw new TypeError('a usage line has no meter');
  return {
    meterId: meter.id,
    meterVersion: meter.version,
    eventName: meter.eventName,
    aggregationType: meter.aggregationType,
    filters: meter.filters,
    filterValues: price.filterValues,
    eventCount: usage.eventCount,
    raw: usage.usage,
    billed: usage.usage,
  };
}
