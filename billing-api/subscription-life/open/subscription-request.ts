import { plain } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { BillingPeriod } from '../../domain/calendar/billing-grid.js';
import { MemberReader } from '../../records/member-rules.js';
import type { Refusal } from '../../records/refusal.js';
import { readAddedLines } from '../../subscriptions/lines/added-lines.js';
import {
  readLineCommitments,
  readSubscriptionCommitment,
} from '../../subscriptions/lines/commitment-request.js';
import { readOverrides } from '../../subscriptions/lines/override-lines.js';
import { readAdjustments } from './adjustments.js';
import { readPhases } from './phases.js';
import { readAddons } from './addons.js';
import { readLateUsage } from '../../declarations/platform/late-usage-rules.js';
import type { CreateSubscriptionBody } from './create-subscription-body.js';
import { readInheritance, type RequestedInheritance } from './inheritance-request.js';
import { checkBehavior } from '../../subscriptions/payment-behavior.js';
import { readEntitlementOverrides } from './entitlements.js';
import type { KeptColumns, OpeningTerms, OwnParts } from './opening-terms.js';

/** What a request asks for, with every default. */
export type SubscriptionRequest = {
  readonly customerId: string | null;
  readonly externalCustomerId: string | null;
  readonly inheritance: RequestedInheritance;
  readonly terms: OpeningTerms;
};

/** Reads a request; `now` stands for an absent start. */
export function readSubscriptionBody(
  body: CreateSubscriptionBody,
  now: InstantMs,
): SubscriptionRequest | Refusal {
  const reader = new MemberReader();
  checkCustomer(reader, body);
  checkOverrides(reader, body);
  const every = {
    currency: reader.currency('currency', body.currency),
    billingPeriod: readPeriod(reader, body),
    ...cadenceOf(body),
  };
  const dates = readDates(reader, body, now);
  const isDraft = body.subscription_status === 'draft';
  const life = { startMs: dates.startMs, endMs: dates.endMs, isDraft };
  const addons = readAddons(reader, body.addons, life);
  const phases = readPhases(reader, body.phases, life);
  const customerTimezone = reader.timezone('customer_timezone', body.customer_timezone);
  const { overrides, ...parts } = readParts(reader, body);
  const adjustments = readAdjustments(reader, body, life.startMs);
  const request: SubscriptionRequest = {
    customerId: body.customer_id ?? null,
    externalCustomerId: body.external_customer_id ?? null,
    inheritance: readInheritance(reader, body),
    terms: {
      planId: body.plan_id,
      ...every,
      ...dates,
      customerTimezone,
      prorationBehavior: body.proration_behavior ?? 'none',
      trialDays: body.trial_period_days ?? null,
      begins: beginsAs(body),
      overrides,
      addons,
      own: { ...parts, phases, adjustments },
      continues: null,
      kept: readKept(reader, body, every),
    },
  };
  return reader.refusal() ?? request;
}

/** A draft is activated later; one that waits for its first payment is incomplete until then. */
function beginsAs(body: CreateSubscriptionBody): OpeningTerms['begins'] {
  if (body.subscription_status === 'draft') return 'draft';
  return (body.payment_behavior ?? 'default_active') === 'default_active' ? 'active' : 'incomplete';
}

function checkOverrides(reader: MemberReader, body: CreateSubscriptionBody): void {
  if (body.phases !== undefined && body.override_line_items !== undefined) {
    reader.note('override_line_items', 'stand in the phases where there are some');
  }
}

type Dates = Pick<OpeningTerms, 'billingAnchorMs' | 'startMs' | 'endMs'>;

function readDates(reader: MemberReader, body: CreateSubscriptionBody, now: InstantMs): Dates {
  const { phases = [] } = body;
  const [first, last] = [phases.at(0), phases.at(-1)];
  const dates = {
    billingAnchorMs: reader.instant('billing_anchor', body.billing_anchor),
    // It begins with its first phase, and ends with its last one.
    startMs: reader.instant('start_date', body.start_date ?? first?.start_date) ?? now,
    endMs: reader.instant('end_date', body.end_date ?? last?.end_date),
  };
  return checkedDates(reader, body, dates);
}

function checkedDates(reader: MemberReader, body: CreateSubscriptionBody, dates: Dates): Dates {
  if (dates.endMs !== null && dates.endMs <= dates.startMs) {
    reader.note('end_date', 'must be later than the start');
  }
  if (dates.billingAnchorMs === null) return dates;
  if (body.billing_cycle === 'calendar') {
    reader.note('billing_anchor', 'cannot be combined with billing_cycle calendar');
  }
  if (dates.billingAnchorMs < dates.startMs) {
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

type Cadence = Pick<OpeningTerms, 'billingPeriodCount' | 'billingCadence' | 'billingCycle'>;

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
): Pick<OpeningTerms, 'overrides'> & Pick<OwnParts, 'addedLines' | 'commitments' | 'entitlements'> {
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
