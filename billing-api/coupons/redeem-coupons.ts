import type { InstantMs } from '../../contract/instant.js';
import { assertPresent } from '../../runtime/failure.js';
import { isInCurrency } from '../domain/adjustments/coupon-kinds.js';
import { repeatedCouponEnd } from '../domain/adjustments/coupon-end.js';
import type { BillingGrid } from '../domain/calendar/billing-grid.js';
import { updateRecord } from '../records/change-record.js';
import { createRecords } from '../records/create-record.js';
import { accept, collect, invalid, notFound } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import {
  COUPON_ASSOCIATIONS,
  type AttachedCoupon,
  type NewCouponAssociation,
} from '../declarations/coupons/coupon-association.resource.js';
import { COUPONS, type CouponRow } from '../declarations/coupons/coupon.resource.js';
import { lockNamedCoupons } from './coupons-store.js';

/** A coupon that a request attaches. */
export type RequestedCoupon = {
  /** Where its code stands in the request. */
  readonly place: string;
  /** Its code or its id. */
  readonly code: string;
  /** Null for a coupon on the whole invoice. */
  readonly lineItemId: string | null;
  /** The phase of the subscription that it belongs to; absent for none. */
  readonly phaseId?: string;
  /** When it discounts; from the start of its holder on when absent. */
  readonly validity?: { readonly startMs: InstantMs; readonly endMs: InstantMs | null };
};

/** The subscription that gets coupons; from `startMs` on where a coupon has no time of its own. */
export type CouponHolder = {
  readonly subscriptionId: string;
  readonly currency: string;
  readonly startMs: InstantMs;
  readonly every: Pick<BillingGrid, 'billingPeriod' | 'billingPeriodCount' | 'timezone'>;
};

function windowProblem(
  { redeem_after: after, redeem_before: before }: CouponRow,
  now: InstantMs,
): string | null {
  if (now < (after ?? -Infinity)) return 'names a coupon that cannot be redeemed yet';
  if (now >= (before ?? Infinity)) return 'names a coupon that can no longer be redeemed';
  return null;
}

/** Why a coupon cannot be attached now (docs/domain.md 14.2); null when it can. */
function problemOf(
  coupon: CouponRow,
  { redeemed, currency, now }: { redeemed: number; currency: string; now: InstantMs },
): string | null {
  const { status, max_redemptions: most } = coupon;
  if (status !== 'published') return `names a coupon that is ${status}`;
  const early = windowProblem(coupon, now);
  if (early !== null) return early;
  if (most !== null && redeemed >= most) return 'names a coupon that has no redemptions left';
  if (isInCurrency(coupon.type) && coupon.currency !== currency) {
    return `names a coupon in ${coupon.currency ?? ''}; the subscription is in ${currency}`;
  }
  return null;
}

function newAssociation(
  coupon: CouponRow,
  { lineItemId, validity, phaseId }: RequestedCoupon,
  { subscriptionId, startMs: start, every }: CouponHolder,
): NewCouponAssociation {
  const { startMs, endMs } = validity ?? { startMs: start, endMs: null };
  const periods = coupon.duration_in_periods;
  return {
    coupon_id: coupon.id,
    subscription_id: subscriptionId,
    subscription_line_item_id: lineItemId,
    subscription_phase_id: phaseId ?? null,
    start_date: startMs,
    end_date: endMs ?? (periods === null ? null : repeatedCouponEnd(every, startMs, periods)),
  };
}

/** Adds what this unit redeems to the coupons, which are locked; answers them as they are then. */
async function countRedemptions(
  unit: Unit,
  redeemed: ReadonlyMap<CouponRow, number>,
): Promise<ReadonlyMap<string, CouponRow>> {
  const counted = new Map<string, CouponRow>();
  for (const [row, total] of redeemed) {
    const after = await updateRecord(unit, COUPONS, { row, patch: { total_redemptions: total } });
    counted.set(row.id, after);
  }
  return counted;
}

/**
 * Redeems coupons for one invoice alone, each counted as one redemption, in the order of the
 * request (docs/domain.md 14.3).
 */
export async function redeemForInvoice(
  unit: Unit,
  currency: string,
  codes: readonly string[],
): Promise<readonly CouponRow[]> {
  if (codes.length === 0) return [];
  const coupons = await lockNamedCoupons(unit, codes);
  const redeemed = new Map<CouponRow, number>();
  const named = accept(
    collect({ items: codes, isBulk: false }, (code, index) => {
      const coupon = coupons.get(code);
      if (coupon === undefined) return notFound('coupon', code);
      const count = redeemed.get(coupon) ?? coupon.total_redemptions;
      const problem = redeemed.has(coupon)
        ? 'must not be named twice'
        : problemOf(coupon, { redeemed: count, currency, now: unit.now });
      if (problem !== null) return invalid({ [`coupons.${index}`]: problem });
      redeemed.set(coupon, count + 1);
      return coupon;
    }),
  );
  const counted = await countRedemptions(unit, redeemed);
  return named.map(({ id }) => assertPresent(counted.get(id), 'a coupon of an invoice'));
}

/**
 * Attaches coupons to a subscription, each counted as one redemption (docs/domain.md 14.2,
 * 14.3), in the order of the request.
 */
export async function redeemCoupons(
  unit: Unit,
  holder: CouponHolder,
  requested: readonly RequestedCoupon[],
): Promise<readonly AttachedCoupon[]> {
  if (requested.length === 0) return [];
  const codes = requested.map(({ code }) => code);
  const coupons = await lockNamedCoupons(unit, codes);
  const redeemed = new Map<CouponRow, number>();
  const associations = accept(
    collect({ items: requested, isBulk: false }, (one) => {
      const coupon = coupons.get(one.code);
      if (coupon === undefined) return notFound('coupon', one.code);
      const count = redeemed.get(coupon) ?? coupon.total_redemptions;
      const state = { redeemed: count, currency: holder.currency, now: unit.now };
      const problem = problemOf(coupon, state);
      if (problem !== null) return invalid({ [one.place]: problem });
      redeemed.set(coupon, count + 1);
      return newAssociation(coupon, one, holder);
    }),
  );
  const counted = await countRedemptions(unit, redeemed);
  const request = { items: associations, isBulk: false };
  const stored = await createRecords(unit, COUPON_ASSOCIATIONS, request);
  return stored.map((association) => ({
    association,
    coupon: assertPresent(counted.get(association.coupon_id), 'the coupon of an association'),
  }));
}
