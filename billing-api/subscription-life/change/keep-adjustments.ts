import { mustGet } from '../../../runtime/failure.js';
import {
  COUPON_ASSOCIATIONS,
  type AttachedCoupon,
} from '../../declarations/coupons/coupon-association.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import {
  TAX_ASSOCIATIONS,
  type NewTaxAssociation,
} from '../../declarations/taxes/tax-association.resource.js';
import { hasApplicationsLeft } from '../../domain/adjustments/coupon-cadences.js';
import { createRecords } from '../../records/create-record.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import { ownColumnsOf } from '../../records/resource.js';
import type { Unit } from '../../records/unit.js';
import { findTaxesOf } from '../../taxes/taxes-store.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { findPriorInvoices } from '../../invoicing/drafts/prior-invoices.js';

/** The subscription that takes the place of another, with its lines. */
type NewSubscription = {
  readonly row: SubscriptionRow;
  readonly lineItems: readonly LineItemRow[];
};

/** Taxes of the old subscription are taken on the invoices of the new one too. */
async function keepTaxes(
  unit: Unit,
  before: SubscriptionRow,
  after: SubscriptionRow,
): Promise<Refusal | null> {
  const taxes = await findTaxesOf(unit, [{ type: 'subscription', id: before.id }]);
  const items: readonly NewTaxAssociation[] = taxes.map(({ association }) => ({
    ...ownColumnsOf(TAX_ASSOCIATIONS, association),
    entity_id: after.id,
    metadata: association.metadata,
  }));
  const stored = await createRecords(unit, TAX_ASSOCIATIONS, { items, isBulk: false });
  return isRefusal(stored) ? stored : null;
}

/** Whether a coupon may still discount something after so many applications. */
function isLeft({ association, coupon }: AttachedCoupon, applied: number, now: number): boolean {
  if ((association.end_date ?? Infinity) <= now) return false;
  return hasApplicationsLeft(coupon.cadence, coupon.duration_in_periods, applied);
}

/** The line item that a coupon discounts now: the last one that continues that of the coupon. */
function lastOf(id: string | null, lineItems: readonly LineItemRow[]): LineItemRow | undefined {
  const next = lineItems.find(({ predecessor_id: of }) => of !== null && of === id);
  return next === undefined ? lineItems.find((item) => item.id === id) : lastOf(next.id, lineItems);
}

/** The new line that is charged by the price of an old one; null when none is. */
function lineLike(
  { association }: AttachedCoupon,
  before: readonly LineItemRow[],
  after: readonly LineItemRow[],
): string | null {
  const old = lastOf(association.subscription_line_item_id, before);
  return after.find(({ price_id: id }) => id === old?.price_id)?.id ?? null;
}

/**
 * Coupons that are not used up move along: those of the invoice always, those of a line to the line
 * of the same price (docs/domain.md 25.3). They are not redeemed again.
 */
async function keepCoupons(
  unit: Unit,
  { subscription, related }: BilledSubscription,
  { row: after, lineItems }: NewSubscription,
): Promise<readonly AttachedCoupon[] | Refusal> {
  if (related.coupons.length === 0) return [];
  const prior = await findPriorInvoices(unit, {
    subscriptionIds: [subscription.id],
    exceptIds: [],
    since: unit.now,
  });
  const { couponApplicationCounts: counts } = prior(subscription.id);
  const items = related.coupons.flatMap((attached) => {
    const { association } = attached;
    // Absent means zero: a coupon that no invoice has was not applied yet.
    if (!isLeft(attached, counts.get(association.id) ?? 0, unit.now)) return [];
    const isOfLine = association.subscription_line_item_id !== null;
    const lineId = isOfLine ? lineLike(attached, related.lineItems, lineItems) : null;
    if (isOfLine && lineId === null) return [];
    return {
      ...ownColumnsOf(COUPON_ASSOCIATIONS, association),
      subscription_id: after.id,
      subscription_line_item_id: lineId,
      start_date: Math.max(association.start_date, unit.now),
      metadata: association.metadata,
    };
  });
  const stored = await createRecords(unit, COUPON_ASSOCIATIONS, { items, isBulk: false });
  if (isRefusal(stored)) return stored;
  const coupons = new Map(related.coupons.map(({ coupon }) => [coupon.id, coupon]));
  return stored.map((association) => ({
    association,
    coupon: mustGet(coupons, association.coupon_id, 'the coupon of an association'),
  }));
}

/** Gives the subscription that takes the place of another its taxes and coupons; answers these. */
export async function keepAdjustments(
  unit: Unit,
  loaded: BilledSubscription,
  after: NewSubscription,
): Promise<readonly AttachedCoupon[] | Refusal> {
  return (
    (await keepTaxes(unit, loaded.subscription, after.row)) ??
    (await keepCoupons(unit, loaded, after))
  );
}
