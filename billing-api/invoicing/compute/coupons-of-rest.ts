import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { instantColumn } from '../../../sql/columns.js';
import { INVOICE_LINES } from '../../declarations/invoices/invoice-line.resource.js';
import type { AttachedCoupon } from '../../declarations/coupons/coupon-association.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import type { CouponAssociation } from '../../domain/adjustments/adjustments.js';
import { isLimited } from '../../domain/adjustments/coupon-cadences.js';
import { discountsUnusedTime } from '../../domain/adjustments/coupon-kinds.js';
import { movedEnd } from '../../domain/settlement/unused-charge.js';
import { rowIsOfEnvironment, rowIsIn } from '../../records/conditions.js';
import type { ReadUnit } from '../../records/unit.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import { couponFrom } from './adjustment-inputs.js';
import { chargedPeriod } from '../../documents/store/charged-time.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';

/** Coupons that discount a charge of the rest of a period. */
export type CouponsOfRest = {
  readonly attached: readonly AttachedCoupon[];
  readonly coupons: readonly CouponAssociation[];
};

export const NO_COUPONS: CouponsOfRest = { attached: [], coupons: [] };

/** What is charged for the rest of a period is no further application of its coupons. */
const NEVER_APPLIED: ReadonlyMap<string, number> = new Map();
const ALWAYS = { startMs: -Infinity, endMs: Infinity };

const discountedRow = z.object({
  id: z.string(),
  period_start: instantColumn,
  period_end: instantColumn,
  trace: INVOICE_LINES.columns.trace.schema,
});

/**
 * The coupons that discounted what was charged in advance for the period around an instant, which
 * pauses have made longer since (docs/domain.md 23.1).
 */
async function findDiscounting(
  { tx }: ReadUnit,
  { subscription, terms }: BilledSubscription,
  { atMs, charged }: Pick<Rest, 'atMs' | 'charged'>,
): Promise<ReadonlySet<string>> {
  const pauses = terms.periods.flatMap((period) => period.pauses);
  const paused = pauses.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
  const isOfCharged =
    charged === undefined
      ? sql.fragment`invoice.invoice_type = 'SUBSCRIPTION'`
      : sql.fragment`line.subscription_line_item_id = ANY (${sql.array([...charged], 'text')})`;
  const rows = await tx.any(sql.type(discountedRow)`
    SELECT coupon.coupon_association_id AS id, line.period_start, line.period_end, line.trace
    FROM coupon_applications AS coupon
    JOIN invoices AS invoice
      ON invoice.id = coupon.invoice_id AND ${rowIsOfEnvironment('invoice')}
    JOIN invoice_line_items AS line
      ON line.invoice_id = invoice.id AND ${rowIsOfEnvironment('line')}
    WHERE coupon.subscription_id = ${subscription.id} AND coupon.coupon_association_id IS NOT NULL
      AND ${isOfCharged} AND ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'counted')}
      AND line.kind = 'charge' AND line.price_type = 'FIXED'
      AND line.period_start <= ${formatInstant(atMs)}::timestamptz
      AND line.period_end > ${formatInstant(atMs - paused)}::timestamptz
      AND ${rowIsOfEnvironment('coupon')}`);
  const covering = rows.filter(
    (row) => movedEnd({ period: chargedPeriod(row) }, pauses, atMs) > atMs,
  );
  return new Set(covering.map(({ id }) => id));
}

/** What is charged for the rest of a period. */
type Rest = {
  readonly atMs: InstantMs;
  /**
   * Line items that were charged for the period already, whose charge had its coupons; absent where
   * something new is charged.
   */
  readonly charged?: readonly string[];
  /** Line items that begin at the instant. */
  readonly added?: readonly LineItemRow[];
};

/**
 * The percentage coupons that a charge of the rest of a period has (docs/domain.md 23.2): those
 * that discounted the charge of the period, and of what is new those for ever that are in force.
 */
export async function findCouponsOfRest(
  unit: ReadUnit,
  loaded: BilledSubscription,
  { atMs, charged, added = [] }: Rest,
): Promise<CouponsOfRest> {
  const { related } = loaded;
  const percentages = related.coupons.filter(({ coupon }) => discountsUnusedTime(coupon.type));
  if (percentages.length === 0) return NO_COUPONS;
  const known = charged === undefined ? { atMs } : { atMs, charged };
  const discounting = await findDiscounting(unit, loaded, known);
  const attached = percentages.filter(({ association, coupon }) => {
    if (discounting.has(association.id)) return true;
    if (charged !== undefined) return false;
    const { start_date: startMs, end_date: endMs } = association;
    return !isLimited(coupon.cadence) && startMs <= atMs && atMs < (endMs ?? Infinity);
  });
  const lineItems = [...related.lineItems, ...added];
  const coupons = attached.map((one) => ({
    ...couponFrom(one, lineItems, NEVER_APPLIED),
    validity: ALWAYS,
  }));
  return { attached, coupons };
}
