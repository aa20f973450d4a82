import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type { AttachedCoupon } from '../../declarations/coupons/coupon-association.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { CouponAssociation } from '../../domain/adjustments/adjustments.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { couponFrom } from '../compute/adjustment-inputs.js';

/** Coupons that discount a charge of the rest of a period. */
export type CouponsOfRest = {
  readonly attached: readonly AttachedCoupon[];
  readonly coupons: readonly CouponAssociation[];
};

export const NO_COUPONS: CouponsOfRest = { attached: [], coupons: [] };

/** What is charged for the rest of a period is no further application of its coupons. */
const NEVER_APPLIED: ReadonlyMap<string, number> = new Map();
const ALWAYS = { startMs: -Infinity, endMs: Infinity };

/** The coupons that discounted what was charged in advance for the period around an instant. */
async function findDiscounting(
  { tx }: ReadUnit,
  subscriptionId: string,
  atMs: InstantMs,
): Promise<ReadonlySet<string>> {
  const at = formatInstant(atMs);
  const rows = await tx.any(sql.type(z.object({ id: z.string() }))`
    SELECT DISTINCT coupon.coupon_association_id AS id
    FROM coupon_applications AS coupon
    JOIN invoices AS invoice
      ON invoice.id = coupon.invoice_id AND ${rowIsOfEnvironment('invoice')}
    JOIN invoice_line_items AS line
      ON line.invoice_id = invoice.id AND ${rowIsOfEnvironment('line')}
    WHERE coupon.subscription_id = ${subscriptionId} AND coupon.coupon_association_id IS NOT NULL
      AND invoice.invoice_type = 'SUBSCRIPTION' AND invoice.invoice_status IN ('DRAFT', 'FINALIZED')
      AND line.kind = 'charge' AND line.price_type = 'FIXED'
      AND line.period_start <= ${at}::timestamptz AND line.period_end > ${at}::timestamptz
      AND ${rowIsOfEnvironment('coupon')}`);
  return new Set(rows.map(({ id }) => id));
}

/**
 * The percentage coupons that a charge of the rest of a period has (docs/domain.md 23.2): those
 * that discounted the charge of the period, and those for ever that are in force. What is fixed was
 * taken off the whole period already.
 * @param added line items that begin at the instant.
 */
export async function findCouponsOfRest(
  unit: ReadUnit,
  { subscription, related }: BilledSubscription,
  { atMs, added }: { readonly atMs: InstantMs; readonly added: readonly LineItemRow[] },
): Promise<CouponsOfRest> {
  const percentages = related.coupons.filter(({ coupon }) => coupon.type === 'percentage');
  if (percentages.length === 0) return NO_COUPONS;
  const discounting = await findDiscounting(unit, subscription.id, atMs);
  const attached = percentages.filter(({ association, coupon }) => {
    if (discounting.has(association.id)) return true;
    const { start_date: startMs, end_date: endMs } = association;
    return coupon.cadence === 'forever' && startMs <= atMs && atMs < (endMs ?? Infinity);
  });
  const lineItems = [...related.lineItems, ...added];
  const coupons = attached.map((one) => ({
    ...couponFrom(one, lineItems, NEVER_APPLIED),
    validity: ALWAYS,
  }));
  return { attached, coupons };
}
