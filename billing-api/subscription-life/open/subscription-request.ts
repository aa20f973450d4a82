import { plain, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type {
  BillingCadence,
  BillingCycle,
  BillingPeriod,
} from '../../domain/calendar/billing-grid.js';
import type { NewSubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Refusal } from '../../records/refusal.js';
import { readAddedLines, type AddedLine } from '../../subscriptions/lines/added-lines.js';
import {
  readLineCommitments,
  readSubscriptionCommitment,
  type RequestedCommitment,
} from '../../subscriptions/lines/commitment-request.js';
import { readOverrides, type LineOverride } from '../../subscriptions/lines/override-lines.js';
import { readAdjustments, type RequestedAdjustments } from './adjustments.js';
import { readPhases, type RequestedPhase } from './phases.js';
import { readLateUsage } from '../../declarations/platform/late-usage-rules.js';
import { readAddons, type RequestedAddon } from './addons.js';
import type { CreateSubscriptionBody } from './create-subscription-body.js';
import { readInheritance, type RequestedInheritance } from './inheritance-request.js';
import { checkBehavior } from '../../subscriptions/payment-behavior.js';
import { readEntitlementOverrides, type OverrideEntitlementBody } from './entitlements.js';

/** Columns of the subscription that the request gives as they are stored. */
type KeptColumns = Pick<
  NewSubscriptionRow,
  | 'lookup_key'
  | 'collection_method'
  | 'payment_behavior'
  | 'payment_terms'
  | 'gateway_payment_method_id'
  | 'commitment_amount'
  | 'overage_factor'
  | 'commitment_duration'
  | 'enable_true_up'
  | 'auto_invoice_threshold'
  | 'late_usage'
  | 'metadata'
>;

/** A commitment that goes on: the subscription with which it began, and where its windows begin. */
export type ContinuedCommitment = { readonly originId: string; readonly startMs: InstantMs };

/** What a request asks for, with every default but those of customer and clock. */
export type SubscriptionRequest = {
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
  readonly prorationBehavior: NonNullable<CreateSubscriptionBody['proration_behavior']>;
  /** In place of the trials of the plan's prices, 0 for none; null when absent. */
  readonly trialDays: number | null;
  /** It is activated later. */
  readonly isDraft: boolean;
  /** Whether it waits for the payment of its first invoice (docs/domain.md 17.3). */
  readonly isIncomplete: boolean;
  /** In place of what the plan's prices say. */
  readonly overrides: readonly LineOverride[];
  /** Beside the lines of the plan. */
  readonly addedLines: readonly AddedLine[];
  readonly addons: readonly RequestedAddon[];
  readonly phases: readonly RequestedPhase[];
  readonly commitments: readonly RequestedCommitment[];
  readonly entitlements: readonly OverrideEntitlementBody[];
  readonly adjustments: RequestedAdjustments;
  readonly inheritance: RequestedInheritance;
  /** What an earlier subscription left of the allowances of features, for the first period. */
  readonly leftAllowances: ReadonlyMap<string, Decimal>;
  /** Where a commitment that goes on began (docs/domain.md 11.2); absent for one that begins. */
  readonly commitmentFrom?: ContinuedCommitment | null;
  readonly kept: KeptColumns;
};

/** Reads a request; `now` stands for an absent start. */
export function readSubscriptionBody(
  body: CreateSubscriptionBody,
  now: InstantMs,
): SubscriptionRequest | Refusal {
  const reader = new MemberReader();
  checkCustomer(reader, body);
  checkOverrides(reader, body);
  const terms = {
    currency: reader.currency('currency', body.currency),
    billingPeriod: readPeriod(reader, body),
    ...cadenceOf(body),
  };
  const dates = readDates(reader, body, now);
  const isDraft = body.subscription_status === 'draft';
  const life = { startMs: dates.startMs ?? now, endMs: dates.endMs, isDraft };
  const request: SubscriptionRequest = {
    customerId: body.customer_id ?? null,
    externalCustomerId: body.external_customer_id ?? null,
    planId: body.plan_id,
    ...terms,
    ...dates,
    addons: readAddons(reader, body.addons, life),
    phases: readPhases(reader, body.phases, life),
    customerTimezone: reader.timezone('customer_timezone', body.customer_timezone),
    prorationBehavior: body.proration_behavior ?? 'none',
    trialDays: body.trial_period_days ?? null,
    isDraft,
    isIncomplete: (body.payment_behavior ?? 'default_active') !== 'default_active',
    ...readParts(reader, body),
    adjustments: readAdjustments(reader, body, life.startMs),
    inheritance: readInheritance(reader, body),
    leftAllowances: new Map(),
    kept: readKept(reader, body, terms),
  };
  return reader.refusal() ?? request;
}

function checkOverrides(reader: MemberReader, body: CreateSubscriptionBody): void {
  if (body.phases !== undefined && body.override_line_items !== undefined) {
    reader.note('override_line_items', 'stand in the phases where there are some');
  }
}

type Dates = Pick<SubscriptionRequest, 'billingAnchorMs' | 'startMs' | 'endMs'>;

function readDates(reader: MemberReader, body: CreateSubscriptionBody, now: InstantMs): Dates {
  const { phases = [] } = body;
  const [first, last] = [phases.at(0), phases.at(-1)];
  const dates = {
    billingAnchorMs: reader.instant('billing_anchor', body.billing_anchor),
    // It begins with its first phase, and ends with its last one.
    startMs: reader.instant('start_date', body.start_date ?? first?.start_date),
    endMs: reader.instant('end_date', body.end_date ?? last?.end_date),
  };
  return checkedDates(reader, body, { dates, now });
}

function checkedDates(
  reader: MemberReader,
  body: CreateSubscriptionBody,
  { dates, now }: { readonly dates: Dates; readonly now: InstantMs },
): Dates {
  const start = dates.startMs ?? now;
  if (dates.endMs !== null && dates.endMs <= start) {
    reader.note('end_date', 'must be later than the start');
  }
  if (dates.billingAnchorMs === null) return dates;
  if (body.billing_cycle === 'calendar') {
    reader.note('billing_anchor', 'cannot be combined with billing_cycle calendar');
  }
  if (dates.billingAnchorMs < start) {
    reader.note('billing_anchor', 'must not be earlier than the start');
  }
  return dates;
}

function readPeriod(reader: MemberReader, body: CreateSubscriptionBody): BillingPeriod {
  if (body.billing_period !== 'ONETIME') return body.billing_period;
  reader.note('billing_period', 'must be a recurring period; only prices can be ONETIME');
  return 'MONTHLY';
}

function checkCustomer(reader: MemberReader, body: CreateSubscriptionBody): void {
  if (body.customer_id === undefined && body.external_customer_id === undefined) {
    reader.note('customer_id', 'give customer_id or external_customer_id');
  }
}

type Cadence = Pick<SubscriptionRequest, 'billingPeriodCount' | 'billingCadence' | 'billingCycle'>;

function cadenceOf(body: CreateSubscriptionBody): Cadence {
  return {
    billingPeriodCount: body.billing_period_count ?? 1,
    billingCadence: body.billing_cadence ?? 'RECURRING',
    billingCycle: body.billing_cycle ?? 'anniversary',
  };
}

/** Lines, their commitments and entitlements: what is checked further against stored records. */
function readParts(
  reader: MemberReader,
  body: CreateSubscriptionBody,
): Pick<SubscriptionRequest, 'overrides' | 'addedLines' | 'commitments' | 'entitlements'> {
  const { override_entitlements: entitlements = [] } = body;
  if (entitlements.length > 0 && body.proration_behavior === 'create_prorations') {
    reader.note('override_entitlements', 'cannot be combined with create_prorations');
  }
  return {
    overrides: readOverrides(reader, body.override_line_items),
    addedLines: readAddedLines(reader, body.line_items),
    commitments: readLineCommitments(reader, body.line_item_commitments, body),
    entitlements: readEntitlementOverrides(reader, entitlements),
  };
}

/** The amount of usage that is invoiced before the period ends; with no commitment beside it. */
function readThreshold(reader: MemberReader, body: CreateSubscriptionBody): string | null {
  const member = 'auto_invoice_threshold';
  const threshold = reader.positive(member, body.auto_invoice_threshold);
  if (threshold === null) return null;
  const { commitment_amount: amount, line_item_commitments: ofLines = {} } = body;
  if (amount !== undefined || Object.keys(ofLines).length > 0) {
    reader.note(member, 'cannot be combined with a commitment');
  }
  return plain(threshold);
}

/**
 * Reads the members that the subscription keeps as the request gives them, with their defaults, and
 * its commitment.
 */
function readKept(
  reader: MemberReader,
  body: CreateSubscriptionBody,
  terms: Parameters<typeof readSubscriptionCommitment>[2],
): KeptColumns {
  const { amount, overageFactor, ...commitment } = readSubscriptionCommitment(reader, body, terms);
  const collection = {
    collection_method: body.collection_method ?? 'charge_automatically',
    payment_behavior: body.payment_behavior ?? 'default_active',
  };
  checkBehavior(reader, collection);
  return {
    lookup_key: body.lookup_key ?? null,
    ...collection,
    payment_terms: body.payment_terms ?? null,
    gateway_payment_method_id: body.gateway_payment_method_id ?? null,
    commitment_amount: amount === null ? null : plain(amount),
    overage_factor: overageFactor === null ? null : plain(overageFactor),
    commitment_duration: commitment.duration,
    enable_true_up: commitment.isTrueUpEnabled,
    auto_invoice_threshold: readThreshold(reader, body),
    late_usage: readLateUsage(reader, body.late_usage),
    metadata: { ...reader.metadata(body.metadata) },
  };
}
