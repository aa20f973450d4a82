import type { AttachedCoupon } from '../../declarations/coupons/coupon-association.resource.js';
import { redeemCoupons, type RequestedCoupon } from '../../coupons/redeem-coupons.js';
import { collect, invalid, isRefusal, type Refusal } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { storeTaxOverrides } from '../../taxes/tax-overrides.js';
import type { NewLine } from '../../subscriptions/lines/new-line.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import type { CouponCode, RequestedAdjustments } from './requested-adjustments.js';

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
): RequestedCoupon | Refusal {
  if (priceId === null) return { place, code, lineItemId: null };
  const lineItem = lineItems[lines.findIndex((line) => line.priceId === priceId)];
  if (lineItem !== undefined) return { place, code, lineItemId: lineItem.id };
  return invalid({ [`line_item_coupons.${priceId}`]: 'is not a price of the subscription' });
}

/**
 * Stores the tax rates of a new subscription and attaches its coupons. Coupons come last: others
 * who redeem the same one wait until the unit ends. A refusal must end the unit.
 */
export async function storeAdjustments(
  unit: Unit,
  stored: StoredSubscription,
  { coupons, taxes }: RequestedAdjustments,
): Promise<readonly AttachedCoupon[] | Refusal> {
  const { subscription } = stored;
  const { id, currency, start_date: startMs, customer_timezone: timezone } = subscription;
  const requested = collect({ items: coupons, isBulk: false }, (one) =>
    requestedCoupon(one, stored),
  );
  if (isRefusal(requested)) return requested;
  const refusal = await storeTaxOverrides(unit, { type: 'subscription', id }, taxes);
  if (refusal !== null) return refusal;
  const { billing_period: billingPeriod, billing_period_count: billingPeriodCount } = subscription;
  const every = { billingPeriod, billingPeriodCount, timezone };
  return redeemCoupons(unit, { subscriptionId: id, currency, startMs, every }, requested);
}
