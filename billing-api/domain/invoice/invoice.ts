import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import type { CommitmentType } from '../commitment/commitment.js';
import type { EntitlementSource } from '../entitlement/entitlement.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';
import type { Proration } from '../calendar/proration.js';
import type { Money } from '../money/money.js';
import type { LineItem } from './line-item.js';
import type { SubscriptionTerms } from './subscription-terms.js';
import type {
  AppliedTax,
  CouponApplication,
  CouponAssociation,
  PrepaidDebit,
  PrepaidWallet,
  TaxAssociation,
} from '../adjustments/adjustments.js';
import type { LineTrace } from './line-trace.js';
import type { GroupedUsage, LineUsage, SourceUsage } from '../usage/line-usage.js';
import type { UsageOwner } from '../usage/usage-owner.js';
import type { PartitionEnd } from '../usage/watermark.js';

/**
 * Which lines an invoice takes (docs/domain.md 13.3). `period_end`: renewal, cancellation and
 * preview, ARREAR lines of the period and ADVANCE lines of the next. `period_start`: opening
 * invoices, ADVANCE lines of the period. `threshold`: usage of the period.
 */
export type ReferencePoint = 'period_start' | 'period_end' | 'threshold';

/** A line of an earlier DRAFT or FINALIZED invoice of the subscription (docs/domain.md 13.5). */
export type InvoicedLine = {
  readonly invoiceId: string;
  readonly lineItemId: string;
  readonly priceId: string;
  readonly period: Interval;
  /** On a threshold invoice, or with usage of a period that such invoices split. */
  readonly isOfSegment?: boolean;
};

/** What an invoice of an earlier part of a split period charged for usage (docs/domain.md 30.1). */
export type EarlierSegment = {
  readonly invoiceId: string;
  readonly lineItemId: string;
  readonly amount: Decimal;
};

/** What the lines of an invoice are selected from, before any usage is read. */
export type LineSelectionInputs<C extends string = string> = {
  readonly subscription: SubscriptionTerms<C>;
  /** What the invoice is for: a row of the ledger, or for a preview any interval. */
  readonly period: Interval;
  /** Since when its usage counts; absent where that is the start of the period (`usageSince`). */
  readonly usageSinceMs?: InstantMs;
  readonly referencePoint: ReferencePoint;
  /** The next period begins with a pause, and is charged when that ends (docs/domain.md 26). */
  readonly isAdvanceHeld?: boolean;
  /** In any order; the result is in line order (docs/domain.md 1). */
  readonly lineItems: readonly LineItem[];
  readonly alreadyInvoiced: readonly InvoicedLine[];
  /** Of all features, in any order, including those that do not count at present. */
  readonly entitlements: readonly EntitlementSource[];
};

/** What an earlier DRAFT or FINALIZED invoice used of a commitment (docs/domain.md 11.2). */
export type PriorCommitment = {
  readonly invoiceId: string;
  /** Of that invoice. */
  readonly period: Interval;
  /** The line item that used it; its successors share the commitment (docs/domain.md 11.3). */
  readonly lineItemId: string;
  /** In-commitment amount, rounded to the currency's minor digits. */
  readonly amount: Decimal;
};

/**
 * The unused part of what a line item was charged in advance, which an invoice takes off
 * (docs/domain.md 25.3).
 */
export type UnusedCharge = {
  readonly lineItem: LineItem;
  /** From the instant of the change to the end of what was charged. */
  readonly period: Interval;
  /** The unused share; null where several lines with shares of their own were charged. */
  readonly proration: Proration | null;
  /** What is unused, before it is rounded. */
  readonly exact: Decimal;
};

export type InvoiceInputs<C extends string = string> = LineSelectionInputs<C> & {
  /** By line item id; every selected usage line must have an entry, also without usage. */
  readonly usage: ReadonlyMap<string, LineUsage>;
  /** Now: empty windows that have not begun are charged no true-up (docs/domain.md 11.4). */
  readonly asOfMs: InstantMs;
  /** In any order; those of other commitment windows are ignored. */
  readonly priorCommitments: readonly PriorCommitment[];
  /** Of the subscription, in any order. */
  readonly coupons: readonly CouponAssociation[];
  /** Of every level, in any order. */
  readonly taxes: readonly TaxAssociation[];
  /** Those that pay; none for a draft, which carries no prepaid credits (docs/domain.md 13.1). */
  readonly wallets: readonly PrepaidWallet[];
  /** Days until the invoice is due (docs/domain.md 16). */
  readonly dueDays: number;
  /** Leaves lines with amount 0 out of the result; the totals do not change. */
  readonly hideZeroCharges: boolean;
  /** What the invoice takes off, in line order; absent where it takes nothing off. */
  readonly unused?: readonly UnusedCharge[];
  /**
   * The first invoice of a plan that another one gave way to inside a period: fixed discounts have
   * the share of full ones that its lines have of full charges (docs/domain.md 25.3).
   */
  readonly scalesFixedCoupons?: true;
  /** What threshold invoices charged in the same period; absent where there are none. */
  readonly earlierSegments?: readonly EarlierSegment[];
  /** What grouped children add (docs/domain.md 29.2); absent where there are none. */
  readonly children?: readonly GroupedInputs<C>[];
  /** Earlier periods of which usage came late (docs/domain.md 13.8); absent without any. */
  readonly late?: readonly LatePeriod<C>[];
  /** What later invoices have charged for this period already; absent where they have nothing. */
  readonly chargedLate?: readonly ChargedLine[];
  /** Whose usage counts; absent where it is that of the invoice's customer alone. */
  readonly usageOf?: readonly UsageOwner[];
};

/** Which line of an invoice it is: the same in every computation of its period. */
export type LinePlace = {
  readonly kind: LineKind;
  /** Null for a true-up, which belongs to the plan as a whole. */
  readonly lineItemId: string | null;
  /** The grouped child that it belongs to; null for the invoice's own subscription. */
  readonly childId: string | null;
  readonly startMs: InstantMs;
};

/** What an invoice has charged for a line of a period: that of the period, or a later one. */
export type ChargedLine = LinePlace & {
  readonly invoiceId: string;
  readonly displayName: string;
  readonly quantity: Decimal;
  /** After discounts. */
  readonly amount: Decimal;
  /** What it used of a commitment; 0 without one. */
  readonly committed: Decimal;
};

/**
 * A period that was invoiced, and of which usage came later (docs/domain.md 13.8). Its invoice is
 * priced again as a whole, and what is more than was charged is charged now.
 */
export type LatePeriod<C extends string = string> = {
  /** The finalized invoice of the period. */
  readonly invoiceId: string;
  readonly invoiceNumber: string | null;
  /** Which events it counted. */
  readonly countedBelow: readonly PartitionEnd[];
  /** What it was priced from, with the usage that is known now. */
  readonly inputs: InvoiceInputs<C>;
  /** By that invoice, and for the period by later ones. */
  readonly charged: readonly ChargedLine[];
  /** The least difference that is charged, up or down. */
  readonly leastAmount: Decimal;
};

/** What the lines of a grouped child are priced from; its taxes and wallets do not count. */
export type GroupedInputs<C extends string = string> = {
  readonly subscriptionId: string;
  readonly planId: string;
  readonly inputs: InvoiceInputs<C>;
};

/**
 * Money of a part of a line: the costs of all parts add up to the line's amount (docs/domain.md
 * 13.6).
 */
type CostShare<C extends string = string> = {
  readonly cost: Money<C>;
  /** Share of the usage of all parts in percent, half-up to 2 digits. */
  readonly percentage: Decimal;
};
export type UsageAnalyticsRow<C extends string = string> = SourceUsage & CostShare<C>;
export type UsageBreakdownRow<C extends string = string> = GroupedUsage & CostShare<C>;

/** The commitment of a line and its share in the line's amount (docs/domain.md 11.3, 11.4). */
export type CommitmentInfo<C extends string = string> = {
  /** This and the next four are null when only time buckets have a commitment. */
  readonly type: CommitmentType | null;
  /**
   * C in money, exact. For a windowed commitment the amount per window as it was configured; null
   * if a quantity was configured.
   */
  readonly amount: Decimal | null;
  /** Null for a commitment of an amount. */
  readonly quantity: Decimal | null;
  readonly overageFactor: Decimal | null;
  readonly isTrueUpEnabled: boolean | null;
  readonly duration: BillingPeriod | null;
  readonly isWindowed: boolean;
  /** This and the next two add up to the line's amount. */
  readonly utilized: Money<C>;
  readonly overage: Money<C>;
  readonly trueUp: Money<C>;
};

/**
 * `charge`: the charge of a line item, or its part within the commitment of the subscription.
 * `overage`: the part beyond. `true_up`: the unused part of the commitment (docs/domain.md 11.1).
 * `credit`: the unused part of an earlier charge, taken off (docs/domain.md 25.3).
 */
export type LineKind = 'charge' | 'overage' | 'true_up' | 'credit';

/** What a line charges of a period that an earlier invoice has billed (docs/domain.md 13.8). */
export type LateLine = {
  /** The invoice of that period. */
  readonly invoiceId: string;
  /** What it uses of a commitment beyond what earlier invoices say; null without one. */
  readonly committed: Decimal | null;
};

export type InvoiceLine<C extends string = string> = {
  readonly kind: LineKind;
  /** Present for a line of late usage alone. */
  readonly late?: LateLine;
  /** The grouped child that it belongs to; absent for a line of the invoice's own subscription. */
  readonly child?: Pick<GroupedInputs, 'subscriptionId' | 'planId'>;
  /** Null exactly for a true-up, which belongs to the plan as a whole. */
  readonly lineItem: LineItem | null;
  readonly displayName: string;
  readonly period: Interval;
  /** Usage before the allowance, or its part of a split line; the quantity of a FIXED line. */
  readonly quantity: Decimal;
  /** The part of the line's usage that the allowance covers; null without an entitlement. */
  readonly adjustedEntitlementQuantity: Decimal | null;
  readonly amount: Money<C>;
  /** The amount in the price's own unit (docs/domain.md 8.6); null for FIAT prices. */
  readonly priceUnitAmount: Decimal | null;
  /** Taken off by coupons on the line item. */
  readonly lineItemDiscount: Money<C>;
  /** The line's share of what coupons on the invoice take off. */
  readonly invoiceLevelDiscount: Money<C>;
  readonly prepaidCreditsApplied: Money<C>;
  /** Null unless the line item has a commitment. */
  readonly commitmentInfo: CommitmentInfo<C> | null;
  readonly usageAnalytics: readonly UsageAnalyticsRow<C>[];
  readonly usageBreakdown: readonly UsageBreakdownRow<C>[];
  /** Facts about the commitment of the subscription (docs/domain.md 11.1). */
  readonly metadata: Readonly<Record<string, string | boolean>>;
  readonly trace: LineTrace<C>;
};

/** The sums of an invoice (docs/domain.md 13.2). */
export type InvoiceTotals<C extends string = string> = {
  readonly subtotal: Money<C>;
  readonly totalDiscount: Money<C>;
  readonly totalPrepaidCreditsApplied: Money<C>;
  readonly totalTax: Money<C>;
  readonly total: Money<C>;
  readonly adjustmentAmount: Money<C>;
  readonly amountDue: Money<C>;
  readonly amountPaid: Money<C>;
  readonly amountRemaining: Money<C>;
  readonly overpaidAmount: Money<C>;
};

export type InvoiceResult<C extends string = string> = {
  readonly currency: C;
  readonly period: Interval;
  readonly dueMs: InstantMs;
  /** In line order; lines of one item by period; a true-up last. */
  readonly lines: readonly InvoiceLine<C>[];
  /** Line coupons first, each kind in the order of application. */
  readonly couponApplications: readonly CouponApplication<C>[];
  /** By priority, then id. */
  readonly taxes: readonly AppliedTax<C>[];
  /** In the order in which the wallets pay. */
  readonly prepaidDebits: readonly PrepaidDebit<C>[];
  readonly totals: InvoiceTotals<C>;
};
