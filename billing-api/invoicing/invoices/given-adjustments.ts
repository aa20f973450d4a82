import type { CouponRow } from '../../declarations/coupons/coupon.resource.js';
import type { TaxRateRow } from '../../declarations/taxes/tax-rate.resource.js';
import type { CouponAssociation, TaxAssociation } from '../../domain/adjustments/adjustments.js';
import { accept, collect, notFound } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { findTaxesOf, holdTaxRatesByCode } from '../../taxes/taxes-store.js';
import { couponTermsFrom, rateTermsFrom, taxFrom } from '../compute/adjustment-inputs.js';
import type { CouponsOfRest } from '../compute/coupons-of-rest.js';
import type { GivenParties } from '../../documents/store/given-document.js';

const ALWAYS = { startMs: -Infinity, endMs: Infinity };

/** A coupon that one invoice redeems: it counts whatever its cadence and dates. */
function couponOf(coupon: CouponRow): CouponAssociation {
  const { id } = coupon;
  const terms = couponTermsFrom(coupon);
  return { id, coupon: terms, lineItemId: null, validity: ALWAYS, applicationCount: 0 };
}

function taxOf(rate: TaxRateRow, invoiceId: string): TaxAssociation {
  return {
    id: rate.id,
    level: 'invoice',
    entityId: invoiceId,
    rate: rateTermsFrom(rate),
    priority: 0,
    currency: null,
    validity: ALWAYS,
    isAutoApplied: true,
  };
}

/** What is done to given lines, and the records that it names. */
export type GivenAdjustments = {
  readonly coupons: readonly CouponAssociation[];
  readonly taxes: readonly TaxAssociation[];
  readonly parties: GivenParties;
};

/**
 * The redeemed coupons and the taxes of an invoice with given lines: tax rates that the request
 * names, and those of the subscription, else of the customer, or else of the tenant (docs/domain.md
 * 15). None for CREDIT.
 */
export async function adjustmentsOfGiven(
  unit: Unit,
  invoiceId: string,
  asked: {
    readonly coupons: readonly CouponRow[];
    readonly taxRates: readonly string[];
    readonly customerId: string;
    /** That the invoice belongs to; null for none. */
    readonly subscriptionId: string | null;
    /** Of that subscription. */
    readonly discounts: CouponsOfRest;
    readonly isCredit: boolean;
  },
): Promise<GivenAdjustments> {
  if (asked.isCredit) return { coupons: [], taxes: [], parties: { coupons: [], taxes: [] } };
  const rates = await holdTaxRatesByCode(unit, asked.taxRates);
  const named = accept(
    collect({ items: asked.taxRates, isBulk: false }, (code) => {
      return rates.get(code) ?? notFound('tax rate', code);
    }),
  );
  const { subscriptionId } = asked;
  const inherited = await findTaxesOf(unit, [
    ...(subscriptionId === null ? [] : [{ type: 'subscription' as const, id: subscriptionId }]),
    { type: 'customer', id: asked.customerId },
    { type: 'tenant', id: unit.environment.tenantId },
  ]);
  const redeemed = asked.coupons.map((coupon) => ({
    association: { id: coupon.id, subscription_id: null },
    coupon,
  }));
  const ofInvoice = named.map((rate) => ({ association: { id: rate.id }, rate }));
  const coupons = [...redeemed, ...asked.discounts.attached];
  return {
    coupons: [...asked.coupons.map(couponOf), ...asked.discounts.coupons],
    taxes: [...named.map((rate) => taxOf(rate, invoiceId)), ...inherited.map(taxFrom)],
    parties: { coupons, taxes: [...ofInvoice, ...inherited] },
  };
}
