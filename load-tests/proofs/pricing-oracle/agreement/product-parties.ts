import { plain } from '../../../../contract/number/decimal.js';
import type { InvoiceParties } from '../../../../billing-api/documents/write-document.js';
import type { AttachedCoupon } from '../../../../billing-api/declarations/coupons/coupon-association.resource.js';
import type { AssociatedTax } from '../../../../billing-api/declarations/taxes/tax-association.resource.js';
import type {
  CouponAssociation,
  TaxAssociation,
} from '../../../../billing-api/domain/adjustments/adjustments.js';
import type { InvoiceInputs } from '../../../../billing-api/domain/invoice/invoice.js';

const AT = Date.parse('2025-12-24T18:30:00.250Z');

/** What every record has. */
function recordOf(id: string) {
  return {
    id,
    tenant_id: 'tenant',
    environment_id: 'environment',
    status: 'published',
    metadata: { region: 'eu', '10': 1, '2': true },
    created_at: AT,
    created_by: 'user',
    updated_at: AT + 1,
    updated_by: null,
    version: 1,
  } as const;
}

const CUSTOMER = {
  ...recordOf('customer'),
  external_id: 'acme',
  name: 'Acme “Ltd”',
  email: 'billing@acme.example',
  contact: null,
  address_line1: null,
  address_line2: null,
  address_city: null,
  address_state: null,
  address_postal_code: null,
  address_country: 'DE',
  timezone: null,
  integrations: [],
} satisfies InvoiceParties['customer'];

const PLAN = {
  ...recordOf('plan'),
  name: 'Pro',
  description: null,
  lookup_key: null,
  display_order: null,
  late_usage: null,
  price_sequence: 2,
} satisfies InvoiceParties['plan'];

/** The row of a subscription with the terms of the inputs, as far as an answer shows them. */
function subscriptionOf({ subscription: terms, period }: InvoiceInputs) {
  return {
    ...recordOf('subscription'),
    customer_id: CUSTOMER.id,
    invoicing_customer_id: null,
    plan_id: PLAN.id,
    parent_subscription_id: null,
    lookup_key: null,
    subscription_status: 'active',
    subscription_type: 'standalone',
    currency: terms.currency,
    billing_cadence: terms.billingCadence,
    billing_cycle: terms.billingCycle,
    billing_period: terms.billingPeriod,
    billing_period_count: terms.billingPeriodCount,
    billing_anchor: period.startMs,
    start_date: period.startMs,
    end_date: terms.endMs,
    current_period_start: period.startMs,
    current_period_end: period.endMs,
    customer_timezone: terms.timezone,
    collection_method: 'send_invoice',
    payment_behavior: 'default_active',
    payment_terms: null,
    gateway_payment_method_id: null,
    auto_invoice_threshold: null,
    late_usage: null,
    proration_behavior: terms.prorationBehavior,
    synced_price_sequence: 1,
    cancel_at: null,
    cancel_at_period_end: false,
    cancelled_at: null,
    trial_start: null,
    trial_end: null,
    commitment_amount: null,
    commitment_duration: null,
    overage_factor: null,
    enable_true_up: false,
    commitment_start: null,
    commitment_origin_id: null,
    pause_status: 'none',
    active_pause_id: null,
  } satisfies InvoiceParties['subscription'];
}

function couponOf({ id, coupon, lineItemId, validity }: CouponAssociation): AttachedCoupon {
  return {
    association: {
      ...recordOf(id),
      coupon_id: coupon.id,
      subscription_id: 'subscription',
      subscription_line_item_id: lineItemId,
      subscription_phase_id: null,
      start_date: validity.startMs,
      end_date: Number.isFinite(validity.endMs) ? validity.endMs : null,
    },
    coupon: {
      ...recordOf(coupon.id),
      name: `Coupon ${coupon.id}`,
      coupon_code: null,
      type: coupon.type,
      cadence: coupon.cadence,
      amount_off: coupon.type === 'fixed' ? plain(coupon.amountOff) : null,
      percentage_off: coupon.type === 'percentage' ? plain(coupon.percentageOff) : null,
      currency: null,
      duration_in_periods: coupon.durationInPeriods,
      max_redemptions: null,
      total_redemptions: 1,
      redeem_after: null,
      redeem_before: null,
      rules: null,
    },
  };
}

function taxOf({ id, level, entityId, rate, ...association }: TaxAssociation): AssociatedTax {
  const { startMs, endMs } = association.validity;
  return {
    association: {
      ...recordOf(id),
      tax_rate_id: rate.id,
      entity_type: level,
      entity_id: entityId,
      priority: association.priority,
      currency: association.currency,
      auto_apply: association.isAutoApplied,
      start_date: Number.isFinite(startMs) ? startMs : null,
      end_date: Number.isFinite(endMs) ? endMs : null,
    },
    rate: {
      ...recordOf(rate.id),
      name: `Tax ${rate.id}`,
      code: rate.id,
      description: null,
      tax_rate_type: rate.type,
      percentage_value: rate.type === 'percentage' ? plain(rate.percentage) : null,
      fixed_value: rate.type === 'fixed' ? plain(rate.fixedValue) : null,
      scope: 'INTERNAL',
      tax_rate_status: 'ACTIVE',
    },
  };
}

/** Records that an invoice with these inputs could have been computed from. */
export function productParties(inputs: InvoiceInputs): InvoiceParties {
  return {
    customer: CUSTOMER,
    subscription: subscriptionOf(inputs),
    plan: PLAN,
    coupons: inputs.coupons.map(couponOf),
    taxes: inputs.taxes.map(taxOf),
  };
}
