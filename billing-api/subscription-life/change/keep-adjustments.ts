import { mustGet, zip } from '../../../runtime/failure.js';
import {
  COUPON_ASSOCIATIONS,
  type AttachedCoupon,
} from '../../declarations/coupons/coupon-association.resource.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import {
  payerOf,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import {
  TAX_ASSOCIATIONS,
  type AssociatedTax,
  type NewTaxAssociation,
} from '../../declarations/taxes/tax-association.resource.js';
import { hasApplicationsLeft } from '../../domain/adjustments/coupon-cadences.js';
import { createRecords } from '../../records/create-record.js';
import { ownColumnsOf } from '../../records/resource.js';
import type { Unit } from '../../records/unit.js';
import { findTaxesOf } from '../../taxes/taxes-store.js';
import type { BilledSubscription } from '../../subscriptions/loaded-subscription.js';
import type { ComputedTask } from '../../invoicing/drafts/compute-tasks.js';
import { findPriorInvoices, type PriorInvoices } from '../../invoicing/drafts/prior-invoices.js';

/** A subscription in whose place another one comes. */
type OldSubscription = {
  readonly loaded: BilledSubscription;
  /** Its final invoice, computed from all others of it; null where it has none, or a parent has. */
  readonly final: ComputedTask | null;
};

/** What lowers and what is added to the invoices of the new subscription. */
type KeptAdjustments = {
  readonly coupons: readonly AttachedCoupon[];
  readonly taxes: readonly AssociatedTax[];
};

/** The subscription that takes the place of another, with its lines. */
type NewSubscription = {
  readonly row: SubscriptionRow;
  readonly lineItems: readonly LineItemRow[];
};

/**
 * Taxes of the old subscription are taken on the invoices of the new one too. Answers those of its
 * invoices: its own, and those of who pays and of the tenant.
 */
async function keepTaxes(
  unit: Unit,
  before: SubscriptionRow,
  after: SubscriptionRow,
): Promise<readonly AssociatedTax[]> {
  const found = await findTaxesOf(unit, [
    { type: 'subscription', id: before.id },
    { type: 'customer', id: payerOf(after) },
    { type: 'tenant', id: after.tenant_id },
  ]);
  const own = found.filter(({ association }) => association.entity_type === 'subscription');
  const items: readonly NewTaxAssociation[] = own.map(({ association }) => ({
    ...ownColumnsOf(TAX_ASSOCIATIONS, association),
    entity_id: after.id,
    metadata: association.metadata,
  }));
  const stored = await createRecords(unit, TAX_ASSOCIATIONS, { items, isBulk: false });
  const copies = zip(own, stored).map(([tax, association]) => ({ ...tax, association }));
  return [...found.filter((tax) => !own.includes(tax)), ...copies];
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

/** How often the invoices of the old subscription have each coupon, the final one too. */
async function findApplied(
  unit: Unit,
  { subscription, related }: BilledSubscription,
  final: ComputedTask | null,
): Promise<PriorInvoices['couponApplicationCounts']> {
  if (related.coupons.length === 0) return new Map();
  if (final !== null) {
    const counts = new Map(final.query.purpose.couponApplicationCounts);
    for (const { associationId: id } of final.invoice.couponApplications) {
      // Absent means zero: the final invoice is the first one that has it.
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }
  const prior = await findPriorInvoices(unit, {
    subscriptionIds: [subscription.id],
    exceptIds: [],
    since: unit.now,
  });
  return prior(subscription.id).couponApplicationCounts;
}

/**
 * Coupons that are not used up move along: those of the invoice always, those of a line to the line
 * of the same price (docs/domain.md 25.3). They are not redeemed again.
 */
async function keepCoupons(
  unit: Unit,
  { loaded, final }: OldSubscription,
  { row: after, lineItems }: NewSubscription,
): Promise<readonly AttachedCoupon[]> {
  const { related } = loaded;
  const counts = await findApplied(unit, loaded, final);
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
  const coupons = new Map(related.coupons.map(({ coupon }) => [coupon.id, coupon]));
  return stored.map((association) => ({
    association,
    coupon: mustGet(coupons, association.coupon_id, 'the coupon of an association'),
  }));
}

/** Gives the subscription that takes the place of another its taxes and coupons; answers them. */
export async function keepAdjustments(
  unit: Unit,
  old: OldSubscription,
  after: NewSubscription,
): Promise<KeptAdjustments> {
  const taxes = await keepTaxes(unit, old.loaded.subscription, after.row);
  const coupons = await keepCoupons(unit, old, after);
  return { taxes, coupons };
}
