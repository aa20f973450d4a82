import { sql } from 'slonik';
import { z } from 'zod';
import type { InstantMs } from '../../../contract/instant.js';
import { assertPresent } from '../../../runtime/failure.js';
import { redeemCoupons, type RequestedCoupon } from '../../coupons/redeem-coupons.js';
import {
  COUPON_ASSOCIATIONS,
  withCoupon,
  type AttachedCoupon,
} from '../../declarations/coupons/coupon-association.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import {
  PRIORITY_DEFAULT,
  TAX_ASSOCIATIONS,
  withTaxRates,
  type AssociatedTax,
} from '../../declarations/taxes/tax-association.resource.js';
import { INVOICE } from '../../domain/lifecycle/invoice-lifecycle.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { markRemoved, updateRecord } from '../../records/change-record.js';
import { rowIsIn, rowIsOfEnvironment } from '../../records/conditions.js';
import { lockRecord } from '../../records/find-record.js';
import { MemberReader } from '../../records/member-rules.js';
import { accept, invalid, notFound, Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { announceUpdated } from '../../subscriptions/subscription-events.js';
import { findLineItems } from '../../subscriptions/subscriptions-store.js';
import { storeTaxOverrides } from '../../taxes/tax-overrides.js';
import type { CouponParamsBody, TaxParamsBody } from './modify-dto.js';

/** What has become of a coupon or a tax rate of a subscription. */
export type ModifiedAdjustment<Attached> = {
  readonly attached: Attached;
  readonly action: 'attached' | 'ended' | 'removed';
};

/** What a modification has done to coupons and taxes, with the subscription that they are of. */
export type ModifiedAdjustments = {
  readonly subscription: SubscriptionRow;
  readonly coupons: readonly ModifiedAdjustment<AttachedCoupon>[];
  readonly taxes: readonly ModifiedAdjustment<AssociatedTax>[];
};

/** Locks a subscription that is charged, so that its adjustments mean something. */
async function holdCharged(unit: Unit, id: string): Promise<SubscriptionRow> {
  const row = await lockRecord(unit, SUBSCRIPTIONS, id);
  if (row?.status !== 'published') throw new Refused(notFound(SUBSCRIPTIONS.name, id));
  const { subscription_status: status } = row;
  if (isIn(SUBSCRIPTION, 'collected', status)) return row;
  const problem = `the subscription is ${status}; coupons and taxes of a running one are changed`;
  throw new Refused(new Refusal('invalid_operation', problem));
}

/** Raises the version of the subscription, so that no invoice is stored that knows less. */
export async function touch(unit: Unit, row: SubscriptionRow): Promise<SubscriptionRow> {
  const after = await updateRecord(unit, SUBSCRIPTIONS, { row, patch: {} });
  await announceUpdated(unit, after);
  return after;
}

function nothingGiven(
  { add = [], remove = [] }: CouponParamsBody | TaxParamsBody,
  params: string,
): Refusal | null {
  if (add.length + remove.length > 0) return null;
  return invalid({ [params]: 'must have something to add or to remove' });
}

/** Where in the request a coupon stands, and what it may discount. */
type Adding = {
  readonly subscription: SubscriptionRow;
  readonly lineItems: readonly LineItemRow[];
  readonly now: InstantMs;
};

function lineProblem(id: string | undefined, startMs: InstantMs, { lineItems }: Adding) {
  if (id === undefined) return null;
  const line = lineItems.find((item) => item.id === id);
  if (line === undefined) return 'is not a line item of the subscription';
  const hasEnded = line.end_date !== null && line.end_date <= startMs;
  return hasEnded ? 'is a line item that has ended by then' : null;
}

/** The coupons that a request adds, with the time in which each discounts. */
function readCoupons(
  bodies: NonNullable<CouponParamsBody['add']>,
  adding: Adding,
): readonly RequestedCoupon[] | Refusal {
  const reader = new MemberReader();
  const coupons = bodies.map((body, index) => {
    const place = `coupon_params.add.${index}`;
    const startMs = reader.instant(`${place}.start_date`, body.start_date) ?? adding.now;
    const endMs = reader.instant(`${place}.end_date`, body.end_date);
    if (startMs < adding.subscription.start_date) {
      reader.note(`${place}.start_date`, 'must not be before the start of the subscription');
    }
    if (endMs !== null && endMs <= startMs) {
      reader.note(`${place}.end_date`, 'must be later than the start');
    }
    reader.note(`${place}.line_item_id`, lineProblem(body.line_item_id, startMs, adding));
    return {
      place: `${place}.coupon_code`,
      code: body.coupon_code,
      lineItemId: body.line_item_id ?? null,
      validity: { startMs, endMs },
    };
  });
  return reader.refusal() ?? coupons;
}

async function isApplied({ tx }: Unit, id: string): Promise<boolean> {
  return tx.exists(sql.type(z.unknown())`
    SELECT FROM coupon_applications AS application
    JOIN invoices AS invoice ON invoice.id = application.invoice_id
      AND ${rowIsOfEnvironment('invoice')}
    WHERE application.coupon_association_id = ${id}
      AND ${rowIsIn(['invoice', 'invoice_status'], INVOICE, 'counted')}
      AND ${rowIsOfEnvironment('application')}`);
}

/** Ends a coupon now; one that has discounted nothing yet is taken away (docs/domain.md 4). */
async function removeCoupon(
  unit: Unit,
  subscriptionId: string,
  id: string,
): Promise<ModifiedAdjustment<AttachedCoupon>> {
  const row = await lockRecord(unit, COUPON_ASSOCIATIONS, id);
  if (row?.subscription_id !== subscriptionId || row.status !== 'published') {
    throw new Refused(notFound(COUPON_ASSOCIATIONS.name, id));
  }
  if (row.end_date !== null && row.end_date <= unit.now) {
    throw new Refused(
      new Refusal('invalid_operation', `the coupon association ${id} has ended already`),
    );
  }
  const isKept = row.start_date < unit.now && (await isApplied(unit, id));
  const after = isKept
    ? await updateRecord(unit, COUPON_ASSOCIATIONS, { row, patch: { end_date: unit.now } })
    : await markRemoved(unit, COUPON_ASSOCIATIONS, row);
  return { attached: await withCoupon(unit, after), action: isKept ? 'ended' : 'removed' };
}

/** Attaches coupons to a running subscription, and ends others (docs/domain.md 14). */
export async function modifyCoupons(
  unit: Unit,
  id: string,
  params: CouponParamsBody,
): Promise<ModifiedAdjustments> {
  accept(nothingGiven(params, 'coupon_params'));
  const row = await holdCharged(unit, id);
  const { add = [], remove = [] } = params;
  const lineItems = await findLineItems(unit.tx, [id]);
  const requested = accept(readCoupons(add, { subscription: row, lineItems, now: unit.now }));
  const after = await touch(unit, row);
  const removed: ModifiedAdjustment<AttachedCoupon>[] = [];
  for (const associationId of remove) {
    const one = await removeCoupon(unit, id, associationId);
    removed.push(one);
  }
  const { billing_period: billingPeriod, billing_period_count: billingPeriodCount } = row;
  const every = { billingPeriod, billingPeriodCount, timezone: row.customer_timezone };
  const holder = { subscriptionId: id, currency: row.currency, startMs: unit.now, every };
  const attached = await redeemCoupons(unit, holder, requested);
  const added = attached.map((one) => ({ attached: one, action: 'attached' as const }));
  return { subscription: after, coupons: [...removed, ...added], taxes: [] };
}

async function removeTax(
  unit: Unit,
  subscriptionId: string,
  id: string,
): Promise<ModifiedAdjustment<AssociatedTax>> {
  const row = await lockRecord(unit, TAX_ASSOCIATIONS, id);
  const isOwn = row?.entity_type === 'subscription' && row.entity_id === subscriptionId;
  if (!isOwn || row.status !== 'published') throw new Refused(notFound(TAX_ASSOCIATIONS.name, id));
  const after = await markRemoved(unit, TAX_ASSOCIATIONS, row);
  const [attached] = await withTaxRates(unit, [after]);
  return { attached: assertPresent(attached, 'the rate of an association'), action: 'removed' };
}

/** Puts tax rates on a running subscription, and takes others off (docs/domain.md 15). */
export async function modifyTaxes(
  unit: Unit,
  id: string,
  params: TaxParamsBody,
): Promise<ModifiedAdjustments> {
  accept(nothingGiven(params, 'tax_params'));
  const row = await holdCharged(unit, id);
  const after = await touch(unit, row);
  const { add = [], remove = [] } = params;
  const removed: ModifiedAdjustment<AssociatedTax>[] = [];
  for (const associationId of remove) {
    const one = await removeTax(unit, id, associationId);
    removed.push(one);
  }
  const overrides = add.map(({ tax_rate_code: code, priority = PRIORITY_DEFAULT }) => {
    return { code, priority, currency: null };
  });
  const stored = await storeTaxOverrides(unit, { type: 'subscription', id }, overrides);
  const rates = await withTaxRates(unit, stored);
  const added = rates.map((one) => ({ attached: one, action: 'attached' as const }));
  return { subscription: after, coupons: [], taxes: [...removed, ...added] };
}
