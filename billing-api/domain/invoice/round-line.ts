import type { Decimal } from '../../../contract/decimal.js';
import { ZERO } from '../../../contract/decimal.js';
import { minorDigitsOf, roundMoney } from '../money.js';
import type { Price } from '../price.js';
import type { LineItem } from '../subscription.js';
import type { InvoiceLine } from './invoice.js';
import type { LineTrace, UsageTrace } from './line-trace.js';
import type { LineUsage } from './line-usage.js';
import type { RatedLine } from './rate-line.js';
import { splitByGrouping, splitBySource } from './split-usage.js';

/** What every line of an invoice has in common. */
export type LineContext = { readonly currency: string; readonly timezone: string };

/**
 * The line as it stands on the invoice: its charge rounded once (domain.md 6.3, 13.1.2 e), the
 * parts of the rounded amount, and the trace.
 */
export function roundLine(rated: RatedLine, context: LineContext): InvoiceLine {
  const { usage, quantity, charge } = rated;
  const { lineItem, period } = rated.planned;
  const { currency } = context;
  const amount = roundMoney(charge, currency);
  return {
    kind: 'charge',
    lineItem,
    displayName: lineItem.displayName,
    period,
    quantity,
    adjustedEntitlementQuantity: null,
    amount,
    priceUnitAmount: priceUnitAmountOf(amount, lineItem.price),
    lineItemDiscount: ZERO,
    invoiceLevelDiscount: ZERO,
    prepaidCreditsApplied: ZERO,
    commitmentInfo: null,
    metadata: {},
    usageAnalytics: splitBySource(amount, usage?.bySource ?? [], currency),
    usageBreakdown: splitByGrouping(amount, usage?.byGrouping ?? [], currency),
    trace: traceOf(rated, amount, context),
  };
}

/** The line amount in the price's own unit, rounded like the base currency (domain.md 8.6). */
function priceUnitAmountOf(amount: Decimal, price: Price): Decimal | null {
  if (price.priceUnitFigures === null) return null;
  return roundMoney(amount.dividedBy(price.priceUnitFigures.conversionRate), price.currency);
}

function traceOf(rated: RatedLine, rounded: Decimal, context: LineContext): LineTrace {
  const { lineItem, period, proration } = rated.planned;
  const { currency, timezone } = context;
  return {
    timezone,
    window: period,
    usage: rated.usage === null ? null : usageTraceOf(lineItem, rated.usage, rated.quantity),
    pricing: rated.pricing,
    windows: null,
    commitment: null,
    discounts: [],
    proration,
    rounding: {
      exact: rated.charge,
      rounded,
      digits: minorDigitsOf(currency),
      mode: 'half_up_away_from_zero',
    },
  };
}

function usageTraceOf({ meter, price }: LineItem, usage: LineUsage, billed: Decimal): UsageTrace {
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
    billed,
    allowance: null,
  };
}
