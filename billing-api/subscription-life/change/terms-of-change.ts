import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { AddonAssociationRow } from '../../declarations/subscriptions/addon-association.resource.js';
import { isLonger, onePeriod, wholePeriodsIn } from '../../domain/calendar/billing-length.js';
import { billedFromMs } from '../../domain/periods/ledger-periods.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { ADDON_ASSOCIATION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { invalid, type Refusal } from '../../records/refusal.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import {
  NO_OWN_PARTS,
  type ContinuedCommitment,
  type OpeningTerms,
} from '../open/opening-terms.js';
import type { ChangeSubscriptionBody } from './change-dto.js';

const everyOf = (terms: Pick<SubscriptionRow, 'billing_period' | 'billing_period_count'>) => ({
  billingPeriod: terms.billing_period,
  billingPeriodCount: terms.billing_period_count,
});

/** Why the commitment of a subscription cannot go on under these periods; null when it can. */
export function commitmentRefusal(
  row: SubscriptionRow,
  body: ChangeSubscriptionBody,
): Refusal | null {
  const { commitment_duration: duration } = row;
  if (row.commitment_amount === null || duration === null) return null;
  if (wholePeriodsIn(onePeriod(duration), everyOf(body)) !== null) return null;
  const problem = `a commitment lasts one or more whole billing periods, and this one is for ${duration}; choose periods that divide it, or cancel the subscription and make another one`;
  return invalid({ billing_period: problem });
}

/**
 * Where a commitment that lasts longer than the new billing periods began, and since when its
 * windows are counted; null where it begins anew with the new subscription (docs/domain.md 11.2).
 */
function continuedCommitment(
  { subscription: row, terms }: BilledSubscription,
  body: ChangeSubscriptionBody,
): ContinuedCommitment | null {
  const { commitment_duration: duration, subscription_status: status } = row;
  if (row.commitment_amount === null || duration === null || status === 'trialing') return null;
  if (!isLonger(onePeriod(duration), everyOf(body))) return null;
  const wasLonger = isLonger(onePeriod(duration), everyOf(row));
  return {
    originId: row.commitment_origin_id ?? row.id,
    startMs: wasLonger ? (row.commitment_start ?? billedFromMs(terms)) : row.current_period_start,
  };
}

/** The addons of a subscription, which go on from the instant of the change. */
function addonsFrom(
  associations: readonly AddonAssociationRow[],
  atMs: InstantMs,
): OpeningTerms['addons'] {
  return (
    associations
      .filter(({ addon_status: status }) => isIn(ADDON_ASSOCIATION, 'alive', status))
      // A onetime addon ends with the period that it was charged for, and is not refunded.
      .filter(({ cadence, end_date: end }) => cadence === 'recurring' && (end ?? Infinity) > atMs)
      .map((row, index) => ({
        place: `addons.${index}`,
        addonId: row.addon_id,
        cadence: 'recurring' as const,
        startMs: Math.max(row.start_date, atMs),
        endMs: row.end_date,
      }))
  );
}

/** What is read of the old subscription beside its rows. */
type Known = {
  readonly atMs: InstantMs;
  readonly associations: readonly AddonAssociationRow[];
  readonly billingAnchorMs: InstantMs | null;
};

/** The terms of the subscription that takes the place of another one (docs/domain.md 25.3). */
export function termsOfChange(
  loaded: BilledSubscription,
  body: ChangeSubscriptionBody,
  { atMs, associations, billingAnchorMs }: Known,
): OpeningTerms {
  const { subscription: row } = loaded;
  return {
    planId: body.target_plan_id,
    currency: row.currency,
    billingPeriod: body.billing_period,
    billingPeriodCount: body.billing_period_count,
    billingCadence: body.billing_cadence,
    billingCycle: body.billing_cycle,
    billingAnchorMs,
    startMs: atMs,
    endMs: row.end_date,
    customerTimezone: row.customer_timezone,
    prorationBehavior: body.proration_behavior === 'none' ? 'none' : 'create_prorations',
    trialDays: 0,
    begins: row.payment_behavior === 'default_active' ? 'active' : 'incomplete',
    overrides: [],
    addons: addonsFrom(associations, atMs),
    own: NO_OWN_PARTS,
    continues: { commitment: continuedCommitment(loaded, body), allowances: new Map() },
    kept: {
      lookup_key: row.lookup_key,
      collection_method: row.collection_method,
      payment_behavior: row.payment_behavior,
      payment_terms: row.payment_terms,
      gateway_payment_method_id: row.gateway_payment_method_id,
      commitment_amount: row.commitment_amount,
      overage_factor: row.overage_factor,
      commitment_duration: row.commitment_duration,
      enable_true_up: row.enable_true_up,
      auto_invoice_threshold: row.auto_invoice_threshold,
      late_usage: row.late_usage,
      metadata: { ...row.metadata, ...body.metadata },
    },
  };
}

/** Terms by which a subscription begins with what an earlier one left of its allowances. */
export function withAllowances(
  terms: OpeningTerms,
  allowances: ReadonlyMap<string, Decimal>,
): OpeningTerms {
  return { ...terms, continues: { commitment: null, ...terms.continues, allowances } };
}
