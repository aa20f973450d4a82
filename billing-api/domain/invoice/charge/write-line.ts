import type { Decimal } from '../../../../contract/number/decimal.js';
import { minorDigitsOf } from '../../money/minor-digits.js';
import { roundToMinorDigits, zeroMoney, type Money } from '../../money/money.js';
import type { Price } from '../../price/price.js';
import type { LineItem } from '../line-item.js';
import type { ChargedLine } from './charge-lines.js';
import { commitmentInfoOf } from './commitment-info.js';
import type { InvoiceInputs, InvoiceLine } from '../invoice.js';
import type { LineTrace, UsageTrace } from '../line-trace.js';
import type { MeasuredUsage } from './rated-line.js';
import { splitByGrouping, splitBySource } from '../split-usage.js';
import type { UsageOwner } from '../../usage/usage-owner.js';

type Unadjusted<C extends string> = Pick<
  InvoiceLine<C>,
  'lineItemDiscount' | 'invoiceLevelDiscount' | 'prepaidCreditsApplied'
>;

/** The members that coupons and wallets fill in later. */
export function unadjusted<C extends string>(currency: C): Unadjusted<C> {
  const zero = zeroMoney(currency);
  return { lineItemDiscount: zero, invoiceLevelDiscount: zero, prepaidCreditsApplied: zero };
}

/** The line of the invoice: its amount, the parts of the amount, and the trace. */
export function writeLine<C extends string>(
  charged: ChargedLine<C>,
  inputs: InvoiceInputs<C>,
): InvoiceLine<C> {
  const { subscription: terms } = inputs;
  const { kind, rated, quantity, amount, metadata } = charged;
  const { billable, measured, committed } = rated;
  const { lineItem, period } = billable;
  return {
    kind,
    lineItem,
    displayName: lineItem.displayName,
    period,
    quantity,
    adjustedEntitlementQuantity: coveredQuantityOf(measured),
    amount,
    priceUnitAmount: priceUnitAmountOf(amount, lineItem.price),
    ...unadjusted(terms.currency),
    commitmentInfo: committed === null ? null : commitmentInfoOf(committed, amount),
    usageAnalytics: measured === null ? [] : splitBySource(amount, measured.usage.bySource),
    usageBreakdown: measured === null ? [] : splitByGrouping(amount, measured.usage.byGrouping),
    metadata,
    trace: traceOf(charged, inputs),
  };
}

/** docs/domain.md 10.2, `adjusted_entitlement_quantity`. */
function coveredQuantityOf(measured: MeasuredUsage | null): Decimal | null {
  if (measured === null || measured.billed.allowance === null) return null;
  return measured.usage.usage.minus(measured.billed.quantity);
}

/** The line amount in the price's own unit, rounded like the base currency (docs/domain.md 8.6). */
function priceUnitAmountOf<C extends string>({ value }: Money<C>, price: Price): Decimal | null {
  const { priceUnitFigures: unit, currency } = price;
  if (unit === null) return null;
  return roundToMinorDigits(value.dividedBy(unit.conversionRate), currency);
}

function traceOf<C extends string>(
  charged: ChargedLine<C>,
  { subscription: terms, usageOf }: InvoiceInputs<C>,
): LineTrace<C> {
  const { rated, exact, amount, mode, commitment, chargedBefore } = charged;
  const rounded = chargedBefore === undefined ? amount : amount.plus(chargedBefore);
  const { billable, measured, pricing, windows, maximum } = rated;
  return {
    timezone: terms.timezone,
    window: billable.period,
    usage: measured === null ? null : usageTraceOf(billable.lineItem, measured, usageOf),
    pricing,
    windows,
    commitment,
    ...(maximum === undefined ? {} : { maximum }),
    proration: billable.proration,
    rounding: { exact, rounded, digits: minorDigitsOf(terms.currency), mode },
    ...(chargedBefore === undefined ? {} : { chargedBefore }),
    discounts: [],
  };
}

function usageTraceOf(
  { meter, price }: LineItem,
  { usage, billed }: MeasuredUsage,
  usageOf: readonly UsageOwner[] | undefined,
): UsageTrace {
  if (meter === null) throw new TypeError('a usage line has no meter');
  return {
    meterId: meter.id,
    meterVersion: meter.version,
    eventName: meter.eventName,
    aggregationType: meter.aggregationType,
    eventValue: meter.eventValue,
    bucketSize: meter.bucketSize,
    groupBy: meter.groupBy,
    filters: meter.filters,
    filterValues: price.filterValues,
    ...(usageOf === undefined ? {} : { customerIds: usageOf.map(({ customerId }) => customerId) }),
    eventCount: usage.eventCount,
    raw: usage.usage,
    billed: billed.quantity,
    allowance: billed.allowance,
  };
}
