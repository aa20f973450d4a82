import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { AnsweredCustomerRow } from '../../declarations/customers/customer.resource.js';
import type { NewSubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type {
  BillingCadence,
  BillingCycle,
  BillingPeriod,
} from '../../domain/calendar/billing-grid.js';
import type { ProrationBehavior } from '../../domain/calendar/proration.js';
import type { AddedLine } from '../../subscriptions/lines/added-lines.js';
import type { RequestedCommitment } from '../../subscriptions/lines/commitment-request.js';
import type { LineOverride } from '../../subscriptions/lines/override-lines.js';
import type { RequestedAddon } from './addons.js';
import type { RequestedAdjustments } from './adjustments.js';
import type { OverrideEntitlementBody } from './entitlements.js';
import type { RequestedPhase } from './phases.js';

/** Columns of a new subscription that are stored as they are given. */
export type KeptColumns = Pick<
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

/** What a subscription has beside what its plan and its addons bring. */
export type OwnParts = {
  readonly phases: readonly RequestedPhase[];
  readonly addedLines: readonly AddedLine[];
  readonly commitments: readonly RequestedCommitment[];
  readonly entitlements: readonly OverrideEntitlementBody[];
  readonly adjustments: RequestedAdjustments;
};

/** A subscription that has what its plan and its addons bring, and nothing else. */
export const NO_OWN_PARTS: OwnParts = {
  phases: [],
  addedLines: [],
  commitments: [],
  entitlements: [],
  adjustments: { coupons: [], taxes: [], grants: [] },
};

/** A commitment that goes on: the subscription with which it began, and where its windows begin. */
export type ContinuedCommitment = { readonly originId: string; readonly startMs: InstantMs };

/** What goes on of the subscription in whose place a new one comes (docs/domain.md 25.3). */
export type Continued = {
  /** Null for a commitment that begins anew, or none (docs/domain.md 11.2). */
  readonly commitment: ContinuedCommitment | null;
  /** What is left of the allowances of features, for the first period. */
  readonly allowances: ReadonlyMap<string, Decimal>;
};

/** What a subscription is opened with, by a request or in place of another subscription. */
export type OpeningTerms = {
  readonly planId: string;
  readonly currency: string;
  readonly billingPeriod: BillingPeriod;
  readonly billingPeriodCount: number;
  readonly billingCadence: BillingCadence;
  readonly billingCycle: BillingCycle;
  readonly billingAnchorMs: InstantMs | null;
  readonly startMs: InstantMs;
  readonly endMs: InstantMs | null;
  /** Null for that of the customer. */
  readonly customerTimezone: string | null;
  readonly prorationBehavior: ProrationBehavior;
  /** In place of the trials of the plan's prices, 0 for none; null where these decide. */
  readonly trialDays: number | null;
  /** A draft is activated later; an incomplete one waits for its first payment (17.3). */
  readonly begins: 'draft' | 'incomplete' | 'active';
  /** In place of what the plan's prices say. */
  readonly overrides: readonly LineOverride[];
  readonly addons: readonly RequestedAddon[];
  readonly own: OwnParts;
  /** Null for a subscription that comes in no other one's place. */
  readonly continues: Continued | null;
  readonly kept: KeptColumns;
};

/** Whose a new subscription is, who pays for it and who inherits from it. */
export type Owners = {
  readonly customer: AnsweredCustomerRow;
  /** Another customer, who pays; null where the customer pays itself. */
  readonly payer: AnsweredCustomerRow | null;
  /** Locked customers who inherit. */
  readonly heirs: readonly AnsweredCustomerRow[];
};
