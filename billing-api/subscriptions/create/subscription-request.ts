import { plain } from '../../../contract/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type {
  BillingCadence,
  BillingCycle,
  BillingPeriod,
} from '../../domain/calendar/billing-grid.js';
import type { ProrationBehavior } from '../../domain/calendar/proration.js';
import type { SubscriptionTerms } from '../../domain/invoice/subscription-terms.js';
import type { NewRow } from '../../records/records.js';
import type { SubscriptionRow } from '../subscriptions-store.js';
import { readAddedLines, type AddedLine, type AddedLineRequest } from './added-lines.js';
import {
  readLineCommitments,
  readSubscriptionCommitment,
  type LineCommitmentRequest,
  type LineCommitmentWish,
  type SubscriptionCommitmentRequest,
} from '../lines/commitment-request.js';
import { MemberReader } from '../../records/member-rules.js';
import {
  readOverrides,
  type OverrideRequest,
  type PriceOverride,
} from '../lines/override-prices.js';
import type { Refusal } from '../../records/refusal.js';
import { readEntitlementOverrides, type EntitlementOverride } from './subscription-entitlements.js';

/** POST /subscriptions as it came; types are already checked. */
export type SubscriptionRequest = SubscriptionCommitmentRequest & {
  readonly customer_id?: string | undefined;
  readonly external_customer_id?: string | undefined;
  readonly plan_id: string;
  readonly currency: string;
  readonly billing_period: BillingPeriod | 'ONETIME';
  readonly billing_period_count?: number | undefined;
  readonly billing_cadence?: BillingCadence | undefined;
  readonly billing_cycle?: BillingCycle | undefined;
  readonly billing_anchor?: string | undefined;
  readonly start_date?: string | undefined;
  readonly end_date?: string | undefined;
  readonly customer_timezone?: string | undefined;
  readonly collection_method?: string | undefined;
  readonly payment_behavior?: string | undefined;
  readonly payment_terms?: string | undefined;
  readonly proration_behavior?: ProrationBehavior | undefined;
  readonly trial_period_days?: number | undefined;
  readonly gateway_payment_method_id?: string | undefined;
  readonly lookup_key?: string | undefined;
  readonly override_line_items?: readonly OverrideRequest[] | undefined;
  readonly line_items?: readonly AddedLineRequest[] | undefined;
  readonly line_item_commitments?: Readonly<Record<string, LineCommitmentRequest>> | undefined;
  readonly override_entitlements?: readonly EntitlementOverride[] | undefined;
  readonly metadata?: Readonly<Record<string, string | number | boolean>> | undefined;
};

/** A subscription that is to be created, with every default but those of customer and clock. */
export type SubscriptionCommand = {
  readonly customerId: string | null;
  readonly externalCustomerId: string | null;
  readonly planId: string;
  readonly currency: string;
  readonly billingPeriod: BillingPeriod;
  readonly billingPeriodCount: number;
  readonly billingCadence: BillingCadence;
  readonly billingCycle: BillingCycle;
  readonly billingAnchorMs: InstantMs | null;
  readonly startMs: InstantMs | null;
  readonly endMs: InstantMs | null;
  readonly customerTimezone: string | null;
  readonly prorationBehavior: ProrationBehavior;
  /** The request says 0 trial days, which beats what the plan's prices say. */
  readonly isWithoutTrial: boolean;
  /** In place of what the plan's prices say. */
  readonly overrides: readonly PriceOverride[];
  /** Beside the lines of the plan. */
  readonly addedLines: readonly AddedLine[];
  readonly commitments: readonly LineCommitmentWish[];
  readonly entitlements: readonly EntitlementOverride[];
  /** Columns that are stored as they came. */
  readonly kept: NewRow;
};

/** Members of features that come later: refused by name. */
const LATER = [
  'subscription_status',
  'auto_invoice_threshold',
  'addons',
  'phases',
  'coupons',
  'line_item_coupons',
  'credit_grants',
  'tax_rate_overrides',
  'inheritance',
];

function checkLater(reader: MemberReader, request: SubscriptionRequest): void {
  reader.later(request, LATER);
  if ((request.trial_period_days ?? 0) > 0) {
    reader.note('trial_period_days', 'is not available yet; give 0 or nothing');
  }
  const behavior = request.payment_behavior ?? 'default_active';
  if (behavior !== 'default_active') {
    reader.note('payment_behavior', `${behavior} is not available yet; default_active is`);
  }
}

type Dates = Pick<SubscriptionCommand, 'billingAnchorMs' | 'startMs' | 'endMs'>;

function readDates(reader: MemberReader, request: SubscriptionRequest, now: InstantMs): Dates {
  const dates = {
    billingAnchorMs: reader.instant('billing_anchor', request.billing_anchor),
    startMs: reader.instant('start_date', request.start_date),
    endMs: reader.instant('end_date', request.end_date),
  };
  const start = dates.startMs ?? now;
  if (dates.endMs !== null && dates.endMs <= start) {
    reader.note('end_date', 'is not later than the start');
  }
  if (dates.billingAnchorMs === null) return dates;
  if (request.billing_cycle === 'calendar') {
    reader.note('billing_anchor', 'does not go with billing_cycle calendar');
  }
  if (dates.billingAnchorMs < start) reader.note('billing_anchor', 'is earlier than the start');
  return dates;
}

function readPeriod(reader: MemberReader, request: SubscriptionRequest): BillingPeriod {
  if (request.billing_period !== 'ONETIME') return request.billing_period;
  reader.note('billing_period', 'ONETIME is no period of a subscription');
  return 'MONTHLY';
}

function checkCustomer(reader: MemberReader, request: SubscriptionRequest): void {
  if (request.customer_id === undefined && request.external_customer_id === undefined) {
    reader.note('customer_id', 'or external_customer_id is required');
  }
}

type Cadence = Pick<SubscriptionCommand, 'billingPeriodCount' | 'billingCadence' | 'billingCycle'>;

function cadenceOf(request: SubscriptionRequest): Cadence {
  return {
    billingPeriodCount: request.billing_period_count ?? 1,
    billingCadence: request.billing_cadence ?? 'RECURRING',
    billingCycle: request.billing_cycle ?? 'anniversary',
  };
}

function keptColumns(request: SubscriptionRequest): NewRow {
  return {
    lookup_key: request.lookup_key ?? null,
    collection_method: request.collection_method ?? 'charge_automatically',
    payment_behavior: request.payment_behavior ?? 'default_active',
    payment_terms: request.payment_terms ?? null,
    gateway_payment_method_id: request.gateway_payment_method_id ?? null,
  };
}

/** Lines, their commitments and entitlements: what is decided once prices and meters are known. */
function readParts(
  reader: MemberReader,
  request: SubscriptionRequest,
): Pick<SubscriptionCommand, 'overrides' | 'addedLines' | 'commitments' | 'entitlements'> {
  const { override_entitlements: entitlements = [] } = request;
  if (entitlements.length > 0 && request.proration_behavior === 'create_prorations') {
    reader.note('override_entitlements', 'do not go with create_prorations');
  }
  return {
    overrides: readOverrides(reader, request.override_line_items),
    addedLines: readAddedLines(reader, request.line_items),
    commitments: readLineCommitments(reader, request.line_item_commitments, request),
    entitlements: readEntitlementOverrides(reader, entitlements),
  };
}

function commitmentColumns(
  reader: MemberReader,
  request: SubscriptionRequest,
  terms: Pick<SubscriptionCommand, 'currency' | 'billingPeriod' | 'billingPeriodCount'>,
): NewRow {
  const commitment = readSubscriptionCommitment(reader, request, terms);
  return {
    commitment_amount: commitment.amount === null ? null : plain(commitment.amount),
    overage_factor: commitment.overageFactor === null ? null : plain(commitment.overageFactor),
    commitment_duration: commitment.duration,
    enable_true_up: commitment.isTrueUpEnabled,
  };
}

/** Reads a request; `now` stands for an absent start. */
export function subscriptionCommandFrom(
  request: SubscriptionRequest,
  now: InstantMs,
): SubscriptionCommand | Refusal {
  const reader = new MemberReader();
  checkCustomer(reader, request);
  checkLater(reader, request);
  const terms = {
    currency: reader.currency('currency', request.currency),
    billingPeriod: readPeriod(reader, request),
    ...cadenceOf(request),
  };
  const command: SubscriptionCommand = {
    customerId: request.customer_id ?? null,
    externalCustomerId: request.external_customer_id ?? null,
    planId: request.plan_id,
    ...terms,
    ...readDates(reader, request, now),
    customerTimezone: reader.timezone('customer_timezone', request.customer_timezone),
    prorationBehavior: request.proration_behavior ?? 'none',
    isWithoutTrial: request.trial_period_days === 0,
    ...readParts(reader, request),
    kept: {
      ...keptColumns(request),
      ...commitmentColumns(reader, request, terms),
      metadata: reader.metadata(request.metadata),
    },
  };
  return reader.refusal() ?? command;
}

/** What decides the periods and charges of a subscription that is to be created. */
export function termsFrom(
  command: SubscriptionCommand,
  resolved: {
    readonly startMs: InstantMs;
    readonly billingAnchorMs: InstantMs;
    readonly timezone: string;
  },
): SubscriptionTerms {
  return {
    ...resolved,
    currency: command.currency,
    billingCadence: command.billingCadence,
    billingCycle: command.billingCycle,
    billingPeriod: command.billingPeriod,
    billingPeriodCount: command.billingPeriodCount,
    endMs: command.endMs,
    trialEndMs: null,
    prorationBehavior: command.prorationBehavior,
    commitment: null,
  };
}

/** The same of a stored subscription: it ends at `end_date` or where it was cancelled. */
export function termsFromRow(row: SubscriptionRow): SubscriptionTerms {
  const ends = [
    ...(row.end_date === null ? [] : [row.end_date]),
    ...(row.cancel_at === null ? [] : [row.cancel_at]),
    ...(row.cancel_at_period_end ? [row.current_period_end] : []),
  ];
  return {
    currency: row.currency,
    billingCadence: row.billing_cadence,
    billingCycle: row.billing_cycle,
    billingPeriod: row.billing_period,
    billingPeriodCount: row.billing_period_count,
    billingAnchorMs: row.billing_anchor,
    timezone: row.customer_timezone,
    startMs: row.start_date,
    endMs: ends.length === 0 ? null : Math.min(...ends),
    trialEndMs: row.trial_end,
    prorationBehavior: row.proration_behavior,
    commitment: null,
  };
}
