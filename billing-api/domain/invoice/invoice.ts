import type { Decimal } from '../../../contract/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { CommitmentType } from '../commitment/commitment.js';
import type { EntitlementSource } from '../entitlement/entitlement.js';
import type { LineAllowance } from '../entitlement/line-allowance.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';
import type { LineItem } from './line-item.js';
import type { SubscriptionTerms } from './subscription-terms.js';
import type { Proration } from '../calendar/proration.js';
import type {
  AppliedTax,
  CouponApplication,
  CouponAssociation,
  PrepaidDebit,
  PrepaidWallet,
  TaxAssociation,
} from '../adjustments/adjustments.js';
import type { LineTrace } from './line-trace.js';
import type { LineMeter } from '../usage/line-meter.js';
import type { GroupedUsage, LineUsage, SourceUsage } from '../usage/line-usage.js';

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

/** What decides the lines of an invoice, and which usage they need, before any usage is read. */
export type LineSelectionInputs = {
  readonly subscription: SubscriptionTerms;
  /** The period the invoice is for: a billing period of the subscription, or a part of one. */
  readonly period: Interval;
  readonly referencePoint: ReferencePoint;
  /** In any order; the result is in line order (domain.md 1). */
  readonly lineItems: readonly LineItem[];
  readonly alreadyInvoiced: readonly InvoicedLine[];
  /** Of all features, in any order; those that do not count yet or any more included. */
  readonly entitlements: readonly EntitlementSource[];
};

/** A line that the invoice will have and that does not depend on usage. */
export type BillableFixedLine = {
  readonly lineItem: LineItem;
  /** Half-open; empty (start = end) for a ONETIME charge. */
  readonly period: Interval;
  /** Share of the full charge that a recurring line takes; null where nothing is scaled. */
  readonly proration: Proration | null;
  readonly meter: null;
};

/** A line that the invoice will have for the usage of a meter. */
export type BillableUsageLine = {
  readonly lineItem: LineItem;
  /** The usage window (domain.md 7.7). */
  readonly period: Interval;
  readonly proration: null;
  readonly meter: LineMeter;
  /** What the line has free; null where no entitlement applies. */
  readonly allowance: LineAllowance | null;
};

export type BillableLine = BillableFixedLine | BillableUsageLine;

/** What an earlier DRAFT or FINALIZED invoice took from a commitment (domain.md 11.2). */
export type PriorCommitment = {
  /** Of that invoice. */
  readonly period: Interval;
  /** The line item that used it up or, where it was replaced, its present successor. */
  readonly lineItemId: string;
  /** In-commitment amount, rounded. */
  readonly amount: Decimal;
};

export type InvoiceInputs = LineSelectionInputs & {
  /**
   * By line item id; every USAGE line of the plan must have an entry, also when nothing was used.
   */
  readonly usage: ReadonlyMap<string, LineUsage>;
  /** Now: windows of a commitment that have not begun are not charged yet (domain.md 11.4). */
  readonly asOfMs: InstantMs;
  /** In any order; those of other commitment windows are left aside. */
  readonly priorCommitments: readonly PriorCommitment[];
  /** Of the subscription, in any order. */
  readonly coupons: readonly CouponAssociation[];
  /** Of every level, in any order. */
  readonly taxes: readonly TaxAssociation[];
  /** Those that pay; none for a draft, which carries no prepaid credits (domain.md 13.1). */
  readonly wallets: readonly PrepaidWallet[];
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

/** The commitment of a line and its share in the line's amount (domain.md 11.3, 11.4). */
export type CommitmentInfo = {
  /** This and the next four are null where only time buckets commit. */
  readonly type: CommitmentType | null;
  /** C in money, exact; per window as it was configured, null for a quantity. */
  readonly amount: Decimal | null;
  /** Null for a commitment of an amount. */
  readonly quantity: Decimal | null;
  readonly overageFactor: Decimal | null;
  readonly isTrueUpEnabled: boolean | null;
  readonly duration: BillingPeriod | null;
  readonly isWindowed: boolean;
  /** This and the next two are minor units that add up to the line's amount. */
  readonly utilized: Decimal;
  readonly overage: Decimal;
  readonly trueUp: Decimal;
};

/**
 * `charge`: what a line item costs, or the part of it that a subscription's commitment covers;
 * `overage`: the part beyond; `true_up`: what is missing to the commitment (domain.md 11.1).
 */
export type LineKind = 'charge' | 'overage' | 'true_up';

export type InvoiceLine = {
  readonly kind: LineKind;
  /** Null exactly for a true-up, which is of the plan as a whole. */
  readonly lineItem: LineItem | null;
  readonly displayName: string;
  readonly period: Interval;
  /** What was used, before an allowance, or its part of a split line; of FIXED lines their own. */
  readonly quantity: Decimal;
  /** What an allowance covers of the whole line; null where no entitlement applies. */
  readonly adjustedEntitlementQuantity: Decimal | null;
  /** Rounded to the currency's minor digits; write it with `formatMoney`. */
  readonly amount: Decimal;
  /** The amount in the price's own unit (domain.md 8.6); null for FIAT prices. */
  readonly priceUnitAmount: Decimal | null;
  /** By coupons on the line item. */
  readonly lineItemDiscount: Decimal;
  /** Its share of coupons on the invoice. */
  readonly invoiceLevelDiscount: Decimal;
  readonly prepaidCreditsApplied: Decimal;
  /** Null unless the line item has a commitment. */
  readonly commitmentInfo: CommitmentInfo | null;
  readonly usageAnalytics: readonly UsageAnalyticsRow[];
  readonly usageBreakdown: readonly UsageBreakdownRow[];
  /** What lines of a subscription's commitment say of themselves (domain.md 11.1). */
  readonly metadata: Readonly<Record<string, string | boolean>>;
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
  /** In line order; lines of one item by period; a true-up last. */
  readonly lines: readonly InvoiceLine[];
  /** Line coupons first, each kind in the order of application. */
  readonly couponApplications: readonly CouponApplication[];
  /** By priority, then id. */
  readonly taxes: readonly AppliedTax[];
  /** In the order in which the wallets pay. */
  readonly prepaidDebits: readonly PrepaidDebit[];
  readonly totals: InvoiceTotals;
};
