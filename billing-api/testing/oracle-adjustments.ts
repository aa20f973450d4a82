import type { SeededRandom } from '../../load-tests/harness/seeded-random.js';
import { randomTaxes } from '../../load-tests/proofs/pricing-oracle/random/random-adjustments.js';
import type {
  CouponAssociation,
  TaxRate,
} from '../../load-tests/proofs/pricing-oracle/subscription.js';
import type { BillingUnderTest } from './billing-harness.js';

/*
 * Random coupons and taxes in two forms: for the independent oracle, which computes what they
 * should take off or add, and as the requests that make the same ones through the interface.
 */

/** A coupon on the invoice, or on the line of this index. */
export type DrawnCoupon = Pick<CouponAssociation, 'discount'> & {
  readonly line: number | null;
  readonly cadence: 'once' | 'one period' | 'forever';
};

export type DrawnAdjustments = {
  readonly coupons: readonly DrawnCoupon[];
  /** Not of the invoice: nothing can be associated with one that is not stored. */
  readonly taxes: readonly TaxRate[];
};

export function drawAdjustments(random: SeededRandom, lineCount: number): DrawnAdjustments {
  const coupons = Array.from({ length: random.below(4) }, (): DrawnCoupon => ({
    line: random.chance(0.5) ? random.below(lineCount) : null,
    cadence: random.pick(['once', 'one period', 'forever']),
    discount: random.chance(0.5)
      ? { type: 'fixed', amountOff: random.pick(['0.01', '5', '100']) }
      : { type: 'percentage', percentageOff: random.pick(['10', '33.333', '60', '100']) },
  }));
  return {
    // A request names the coupons of each line together, so this is the order in which they are
    // attached, which the oracle takes from their place in the list.
    coupons: coupons.toSorted((a, b) => (a.line ?? -1) - (b.line ?? -1)),
    taxes: randomTaxes(random).filter(({ level }) => level !== 'invoice'),
  };
}

/** For the oracle: coupons from the start of the subscription on, items named by their index. */
export function couponsWrittenDown(
  { coupons }: DrawnAdjustments,
  { start, firstPeriodEnd }: { readonly start: number; readonly firstPeriodEnd: number },
): readonly CouponAssociation[] {
  return coupons.map(({ line, cadence, discount }, index) => ({
    id: `coupon-${index}`,
    itemId: line === null ? null : `item${line}`,
    start,
    end: cadence === 'one period' ? firstPeriodEnd : null,
    discount,
    applicationsMax: cadence === 'forever' ? null : 1,
  }));
}

function couponBody({ discount, cadence }: DrawnCoupon, currency: string): object {
  const value =
    discount.type === 'fixed'
      ? { type: 'fixed', amount_off: discount.amountOff, currency }
      : { type: 'percentage', percentage_off: discount.percentageOff };
  if (cadence !== 'one period') return { ...value, cadence };
  return { ...value, cadence: 'repeated', duration_in_periods: 1 };
}

/** Makes the coupons; the members that put them on a subscription with lines of these prices. */
export async function makeDrawnCoupons(
  api: BillingUnderTest,
  { coupons }: DrawnAdjustments,
  {
    prefix,
    priceIds,
    currency = 'usd',
  }: {
    readonly prefix: string;
    readonly priceIds: readonly string[];
    readonly currency?: string;
  },
): Promise<object> {
  const ofInvoice: string[] = [];
  const ofLines: Record<string, string[]> = {};
  for (const [index, coupon] of coupons.entries()) {
    const code = `${prefix}-${index}`;
    await api.make('/v1/coupons', {
      name: code,
      coupon_code: code,
      ...couponBody(coupon, currency),
    });
    const priceId = coupon.line === null ? undefined : priceIds[coupon.line];
    if (priceId === undefined) ofInvoice.push(code);
    else (ofLines[priceId] ??= []).push(code);
  }
  return { coupons: ofInvoice, line_item_coupons: ofLines };
}

/** How the taxes get where they belong. */
type TaxRequests = {
  /** `tax_rate_overrides` of the customer and of the subscription that are to be made. */
  readonly ofCustomer: readonly object[];
  readonly ofSubscription: readonly object[];
  /**
   * Tax associations that need a request of their own: those of the tenant, and a second one of a
   * rate that `tax_rate_overrides` can name only once.
   */
  readonly others: readonly { readonly level: TaxRate['level']; readonly body: object }[];
};

function taxRequests({ taxes }: DrawnAdjustments, prefix: string): TaxRequests {
  const named = new Set<string>();
  const overrides = { customer: [] as object[], subscription: [] as object[] };
  const others: { level: TaxRate['level']; body: object }[] = [];
  for (const [priority, { level, rateId, isAutoApplied }] of taxes.entries()) {
    const body = { tax_rate_code: `${prefix}-${rateId}`, priority };
    const key = `${level} ${rateId}`;
    const isOverride = (level === 'customer' || level === 'subscription') && !named.has(key);
    if (isOverride) overrides[level].push(body);
    else others.push({ level, body: { ...body, auto_apply: isAutoApplied } });
    named.add(key);
  }
  return { ofCustomer: overrides.customer, ofSubscription: overrides.subscription, others };
}

/** Makes the tax rates; how they get where they belong. */
export async function makeDrawnTaxRates(
  api: BillingUnderTest,
  adjustments: DrawnAdjustments,
  prefix: string,
): Promise<TaxRequests> {
  const rates = new Map(adjustments.taxes.map((tax) => [tax.rateId, tax]));
  for (const [rateId, tax] of rates) {
    const value =
      tax.type === 'fixed' ? { fixed_value: tax.amount } : { percentage_value: tax.percentage };
    const code = `${prefix}-${rateId}`;
    const { id } = await api.make('/v1/taxes/rates', { name: code, code, ...value });
    const body = { tax_rate_status: tax.isActive ? 'ACTIVE' : 'INACTIVE' };
    await api.call('PUT', `/v1/taxes/rates/${id}`, { body });
  }
  return taxRequests(adjustments, prefix);
}

/** Associates the other taxes; undoes those of the tenant, which would tax everybody else too. */
export async function associateDrawnTaxes(
  api: BillingUnderTest,
  { others }: TaxRequests,
  ids: { readonly customer: string; readonly subscription: string },
): Promise<() => Promise<void>> {
  const ofTenant: string[] = [];
  for (const { level, body } of others) {
    const entity =
      level === 'tenant'
        ? { entity_type: level }
        : { entity_type: level, entity_id: level === 'customer' ? ids.customer : ids.subscription };
    const { id } = await api.make('/v1/taxes/associations', { ...body, ...entity });
    if (level === 'tenant') ofTenant.push(id as string);
  }
  return async () => {
    for (const id of ofTenant) await api.call('DELETE', `/v1/taxes/associations/${id}`);
  };
}
