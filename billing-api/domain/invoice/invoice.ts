import type { Decimal } from '../../../contract/decimal.js';
import type { Interval } from '../../../contract/instant.js';
import type { MeterFilter } from '../../../contract/meter.js';
import type { PricingTrace } from '../pricing/pricing-trace.js';
import type { AggregationType, LineItem, SubscriptionTerms } from '../subscription.js';

/**
 * Which lines an invoice takes (domain.md 13.3). `period_end`: renewal and preview, ARREAR lines of
 * the period and ADVANCE lines of the next. `period_start`: opening invoices, ADVANCE lines of the
 * period.
 */
export type ReferencePoint = 'period_start' | 'period_end';

/** A line that a DRAFT or FINALIZED invoice of the subscription already has (domain.md 13.5). */
export type InvoicedLine = {
  readonly lineItemId: string;
  readonly priceId: string;
  readonly period: Interval;
};

/** What decides the lines of an invoice, before any usage is read. */
export type InvoicePlanInputs = {
  readonly subscription: SubscriptionTerms;
  /** The period the invoice is for: a billing period of the subscription, or a part of one. */
  readonly period: Interval;
  readonly referencePoint: ReferencePoint;
  /** In any order; the result is in line order (domain.md 1). */
  readonly lineItems: readonly LineItem[];
  readonly alreadyInvoiced: readonly InvoicedLine[];
};

/**
 * One line that the invoice will have. For a USAGE line `period` is its usage window (7.7): ask the
 * usage port for exactly this interval.
 */
export type PlannedLine = {
  readonly lineItem: LineItem;
  /** Half-open; empty (start = end) for a ONETIME charge. */
  readonly period: Interval;
  /** Share of the full charge that a FIXED recurring line takes; null where nothing is scaled. */
  readonly proration: Proration | null;
};

/** `coveredMs / fullMs` of the charge of a full period (domain.md 13.4); exact milliseconds. */
export type Proration = { readonly coveredMs: number; readonly fullMs: number };

/** A part of a line's usage: one source, or one combination of the requested groupings. */
export type UsageShare = {
  readonly usage: Decimal;
  readonly eventCount: number;
};
export type SourceUsage = UsageShare & { readonly source: string };
export type GroupedUsage = UsageShare & { readonly groupedBy: Readonly<Record<string, string>> };

/** The aggregated usage of one line over its usage window. */
export type LineUsage = UsageShare & {
  /** Filled when the reader asked for `group_by` source, else empty. */
  readonly bySource: readonly SourceUsage[];
  /** Filled when the reader asked for any other `group_by`, one row per combination of keys. */
  readonly byGrouping: readonly GroupedUsage[];
};

export type InvoiceInputs = InvoicePlanInputs & {
  /**
   * By line item id; every USAGE line of the plan must have an entry, also when nothing was used.
   */
  readonly usage: ReadonlyMap<string, LineUsage>;
  /** Leaves lines with amount 0 out of the result; totals are the same. */
  readonly hideZeroCharges: boolean;
};

/** Money of a part of a line: the costs of all parts add up to the line's amount (13.6). */
type CostShare = {
  readonly cost: Decimal;
  /** Of the usage of all parts, half-up to 2 digits. */
  readonly percentage: Decimal;
};
export type UsageAnalyticsRow = SourceUsage & CostShare;
export type UsageBreakdownRow = GroupedUsage & CostShare;

/** How a line's amount came about: enough to compute it again by hand (api.md 6, Explanation). */
export type LineTrace = {
  readonly timezone: string;
  /** Usage window or charged period. */
  readonly window: Interval;
  readonly usage: UsageTrace | null;
  readonly pricing: PricingTrace;
  readonly proration: Proration | null;
  readonly rounding: Rounding;
};

export type UsageTrace = {
  readonly meterId: string;
  readonly meterVersion: number;
  readonly eventName: string;
  readonly aggregationType: AggregationType;
  /** Of the meter; an event counts when it passes these and the price's own. */
  readonly filters: readonly MeterFilter[];
  readonly filterValues: Readonly<Record<string, readonly string[]>>;
  readonly eventCount: number;
  /** Aggregated quantity. */
  readonly raw: Decimal;
  /** What was priced. */
  readonly billed: Decimal;
};

export type Rounding = {
  readonly exact: Decimal;
  readonly rounded: Decimal;
  readonly digits: number;
  readonly mode: 'half_up_away_from_zero';
};

export type InvoiceLine = {
  readonly lineItem: LineItem;
  readonly period: Interval;
  /** Billed usage of a USAGE line, quantity of a FIXED one. */
  readonly quantity: Decimal;
  /** Rounded to the currency's minor digits; write it with `formatMoney`. */
  readonly amount: Decimal;
  /** The amount in the price's own unit (domain.md 8.6); null for FIAT prices. */
  readonly priceUnitAmount: Decimal | null;
  readonly usageAnalytics: readonly UsageAnalyticsRow[];
  readonly usageBreakdown: readonly UsageBreakdownRow[];
  readonly trace: LineTrace;
};

/** The sums of an invoice (domain.md 13.2); every one has at most the currency's minor digits. */
export type InvoiceTotals = {
  readonly subtotal: Decimal;
  readonly totalDiscount: Decimal;
  readonly totalPrepaidCreditsApplied: Decimal;
  readonly totalTax: Decimal;
  readonly total: Decimal;
  readonly adjustmentAmount: Decimal;
  readonly amountDue: Decimal;
  readonly amountPaid: Decimal;
  readonly amountRemaining: Decimal;
  readonly overpaidAmount: Decimal;
};

export type InvoiceResult = {
  readonly currency: string;
  readonly period: Interval;
  /** In line order; lines of one item by period. */
  readonly lines: readonly InvoiceLine[];
  readonly totals: InvoiceTotals;
};
