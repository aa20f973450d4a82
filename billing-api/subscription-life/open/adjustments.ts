import type { InstantMs } from '../../../contract/instant.js';
import { redeemCoupons, type RequestedCoupon } from '../../coupons/redeem-coupons.js';
import {
  readGrantsOfSubscription,
  type GrantOfNewSubscription,
} from '../../credit-grants/credit-grant-rules.js';
import { findCreditGrantsOfCatalog } from '../../credit-grants/credit-grants-store.js';
import type { AttachedCoupon } from '../../declarations/coupons/coupon-association.resource.js';
import {
  CREDIT_GRANTS,
  type CreditGrantOfSubscriptionBody,
  type CreditGrantRow,
  type NewCreditGrant,
} from '../../declarations/credit-grants/credit-grant.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { TaxRateOverrideBody } from '../../declarations/taxes/tax-override-body.js';
import { createRecords } from '../../records/create-record.js';
import type { MemberReader } from '../../records/member-rules.js';
import { accept, collect, invalid, type Refusal } from '../../records/refusal.js';
import { ownColumnsOf } from '../../records/resource.js';
import type { Unit } from '../../records/unit.js';
import type { NewLine } from '../../subscriptions/lines/new-line.js';
import {
  readTaxOverrides,
  storeTaxOverrides,
  type TaxOverride,
} from '../../taxes/tax-overrides.js';
import type { HeldAddon } from './addons.js';
import type { IdentifiedPhase } from './phases.js';

/** Id of the price of a line → codes of coupons on the line. */
export interface LineItemCouponsBody {
  [price_id: string]: CouponCodes;
}

/** Of one request: each of them is a record to be stored, while others wait for its coupon. */
const CODES_MAX = 1000;

/** @maxItems 100 */
export type CouponCodes = string[];

/** A coupon that a request puts on the subscription, or on the line that a price names. */
export type CouponCode = {
  /** Where the code stands in the request. */
  readonly place: string;
  readonly code: string;
  /** Null for the invoices as a whole. */
  readonly priceId: string | null;
};

function readCodes(
  reader: MemberReader,
  codes: readonly string[],
  { place, priceId }: { readonly place: string; readonly priceId: string | null },
): readonly CouponCode[] {
  const seen = new Set<string>();
  return codes.map((code, index) => {
    const member = `${place}.${index}`;
    if (seen.has(code)) reader.note(member, 'must not be given twice');
    seen.add(code);
    return { place: member, code, priceId };
  });
}

/** The members of a request that change the amounts of the subscription's invoices. */
type AdjustmentMembers = {
  readonly coupons?: readonly string[];
  readonly line_item_coupons?: LineItemCouponsBody;
  readonly tax_rate_overrides?: readonly TaxRateOverrideBody[];
  readonly credit_grants?: readonly CreditGrantOfSubscriptionBody[];
};

/** What a request puts on a subscription beside its lines. */
export type RequestedAdjustments = {
  readonly coupons: readonly CouponCode[];
  readonly taxes: readonly TaxOverride[];
  readonly grants: readonly GrantOfNewSubscription[];
};

/** Reads `coupons` and `line_item_coupons`, whose members stand below `prefix`. */
export function readCouponCodes(
  reader: MemberReader,
  {
    coupons = [],
    line_item_coupons: ofLines = {},
  }: Pick<AdjustmentMembers, 'coupons' | 'line_item_coupons'>,
  prefix = '',
): readonly CouponCode[] {
  const onLines = Object.entries(ofLines).flatMap(([priceId, codes]) =>
    readCodes(reader, codes, { place: `${prefix}line_item_coupons.${priceId}`, priceId }),
  );
  if (coupons.length + onLines.length > CODES_MAX) {
    reader.note(
      `${prefix}line_item_coupons`,
      `must have, with coupons, at most ${CODES_MAX} codes in all`,
    );
  }
  return [...readCodes(reader, coupons, { place: `${prefix}coupons`, priceId: null }), ...onLines];
}

/** Reads `coupons`, `line_item_coupons`, `tax_rate_overrides` and `credit_grants`. */
export function readAdjustments(
  reader: MemberReader,
  members: AdjustmentMembers,
  startMs: InstantMs,
): RequestedAdjustments {
  return {
    coupons: readCouponCodes(reader, members),
    taxes: readTaxOverrides(reader, members.tax_rate_overrides),
    grants: readGrantsOfSubscription(reader, members.credit_grants, startMs),
  };
}

function copyOf(
  grant: CreditGrantRow,
  { subscriptionId, startMs }: { readonly subscriptionId: string; readonly startMs: InstantMs },
): NewCreditGrant {
  return {
    ...ownColumnsOf(CREDIT_GRANTS, grant),
    scope: 'SUBSCRIPTION',
    plan_id: null,
    addon_id: null,
    subscription_id: subscriptionId,
    start_date: startMs,
    credit_grant_anchor: startMs,
    metadata: grant.metadata,
  };
}

/** What a new subscription gets its credit grants from. */
type GrantSources = {
  /** Null where its plan brings none any more. */
  readonly planId: string | null;
  readonly addons: readonly HeldAddon[];
  /** Those of its own request. */
  readonly requested: readonly GrantOfNewSubscription[];
};

/**
 * Stores the credit grants of a new subscription: copies of those of its plan and addons, and those
 * that its request brings. The periods of a copy are counted from the start of the subscription, an
 * addon's from the start of the addon (docs/domain.md 21).
 */
export async function storeGrants(
  unit: Unit,
  from: GrantSources,
  to: { readonly subscriptionId: string; readonly startMs: InstantMs },
): Promise<readonly CreditGrantRow[]> {
  const addonIds = from.addons.map(({ addon }) => addon.id);
  const found = await findCreditGrantsOfCatalog(unit.tx, { planId: from.planId, addonIds });
  const ofPlan = found.filter((grant) => grant.plan_id !== null);
  const items = [
    ...ofPlan.map((grant) => copyOf(grant, to)),
    ...from.addons.flatMap(({ addon, requested: { startMs } }) =>
      found
        .filter((grant) => grant.addon_id === addon.id)
        .map((grant) => copyOf(grant, { ...to, startMs })),
    ),
    ...from.requested.map((grant) => ({ ...grant, subscription_id: to.subscriptionId })),
  ];
  return createRecords(unit, CREDIT_GRANTS, { items, isBulk: false });
}

/** A new subscription with its lines, as requested and as stored, in the same order. */
type StoredSubscription = {
  readonly subscription: SubscriptionRow;
  readonly lines: readonly NewLine[];
  readonly lineItems: readonly LineItemRow[];
};

/** Where a coupon goes: to the invoices as a whole, or to the line that a price names. */
function requestedCoupon(
  { place, code, priceId }: CouponCode,
  { lines, lineItems }: StoredSubscription,
  phase: IdentifiedPhase | null,
): RequestedCoupon | Refusal {
  const ofPhase =
    phase === null
      ? {}
      : { phaseId: phase.id, validity: { startMs: phase.startMs, endMs: phase.endMs } };
  if (priceId === null) return { place, code, lineItemId: null, ...ofPhase };
  const index = lines.findIndex((line) => {
    return line.priceId === priceId && (phase === null || line.phase?.id === phase.id);
  });
  const lineItem = lineItems[index];
  if (lineItem !== undefined) return { place, code, lineItemId: lineItem.id, ...ofPhase };
  const member = place.slice(0, place.lastIndexOf('.'));
  return invalid({ [member]: 'is not a price of the subscription' });
}

/** The coupons of a subscription and of its phases, in the order of the request. */
function requestedCoupons(
  stored: StoredSubscription,
  coupons: readonly CouponCode[],
  phases: readonly IdentifiedPhase[],
): readonly RequestedCoupon[] | Refusal {
  const all = [
    ...coupons.map((code) => ({ code, phase: null })),
    ...phases.flatMap((phase) => phase.coupons.map((code) => ({ code, phase }))),
  ];
  return collect({ items: all, isBulk: false }, ({ code, phase }) =>
    requestedCoupon(code, stored, phase),
  );
}

/**
 * Stores the tax rates of a new subscription and attaches its coupons. Coupons come last: others
 * who redeem the same one wait until the unit ends. A refusal must end the unit.
 */
export async function storeCouponsAndTaxes(
  unit: Unit,
  { phases, ...stored }: StoredSubscription & { readonly phases: readonly IdentifiedPhase[] },
  { coupons, taxes }: RequestedAdjustments,
): Promise<readonly AttachedCoupon[]> {
  const { subscription } = stored;
  const { id, currency, start_date: startMs, customer_timezone: timezone } = subscription;
  const requested = accept(requestedCoupons(stored, coupons, phases));
  await storeTaxOverrides(unit, { type: 'subscription', id }, taxes);
  const { billing_period: billingPeriod, billing_period_count: billingPeriodCount } = subscription;
  const every = { billingPeriod, billingPeriodCount, timezone };
  return redeemCoupons(unit, { subscriptionId: id, currency, startMs, every }, requested);
}
