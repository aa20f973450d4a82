import type { BillingCadence, BillingPeriod } from '../calendar/billing-grid.js';
import { refuse, type PriceRefusal } from './price-refusal.js';

export const PRICE_TYPES = ['USAGE', 'FIXED'] as const;
export type PriceType = (typeof PRICE_TYPES)[number];

export const INVOICE_CADENCES = ['ARREAR', 'ADVANCE'] as const;
export type InvoiceCadence = (typeof INVOICE_CADENCES)[number];

/** What a subscription, a commitment or a recurring price can have as its period. */
export const RECURRING_PERIODS = [
  'DAILY',
  'WEEKLY',
  'MONTHLY',
  'QUARTERLY',
  'HALF_YEARLY',
  'ANNUAL',
] as const satisfies readonly BillingPeriod[];

export const PRICE_BILLING_PERIODS = [...RECURRING_PERIODS, 'ONETIME'] as const;
export type PriceBillingPeriod = BillingPeriod | 'ONETIME';

/** Members of a price body that say what is billed, and when. */
export interface PriceCadenceBody {
  readonly type?: PriceType;
  readonly billing_cadence?: BillingCadence;
  readonly billing_period?: PriceBillingPeriod;
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   */
  readonly billing_period_count?: number;
  readonly invoice_cadence?: InvoiceCadence;
  /**
   * @isInt
   * @minimum 0
   * @maximum 10000
   */
  readonly trial_period_days?: number;
}

export type PriceCadence = {
  readonly type: PriceType;
  readonly billingCadence: BillingCadence;
  /** ONETIME exactly when the cadence is (docs/domain.md 9.2). */
  readonly billingPeriod: PriceBillingPeriod;
  readonly billingPeriodCount: number;
  readonly invoiceCadence: InvoiceCadence;
  readonly trialPeriodDays: number | null;
};

/** Reads the cadence of a price; without a type, a price with a meter is of type USAGE. */
export function cadenceFrom(body: PriceCadenceBody, meterId: string | null): PriceCadence {
  const type = body.type ?? (meterId === null || meterId === '' ? 'FIXED' : 'USAGE');
  // An explicit 0 counts as absent (docs/domain.md 3.2).
  const trialPeriodDays = body.trial_period_days === 0 ? null : (body.trial_period_days ?? null);
  return {
    type,
    ...periodFrom(body),
    billingPeriodCount: body.billing_period_count ?? 1,
    invoiceCadence: body.invoice_cadence ?? (type === 'USAGE' ? 'ARREAR' : 'ADVANCE'),
    trialPeriodDays,
  };
}

/** A member that is absent becomes ONETIME if the other is; `hasOneCadence` checks given ones. */
function periodFrom({
  billing_cadence: cadence,
  billing_period: period,
}: PriceCadenceBody): Pick<PriceCadence, 'billingCadence' | 'billingPeriod'> {
  const isOnetime = cadence === 'ONETIME' || period === 'ONETIME';
  return {
    billingCadence: cadence ?? (isOnetime ? 'ONETIME' : 'RECURRING'),
    billingPeriod: period ?? (isOnetime ? 'ONETIME' : 'MONTHLY'),
  };
}

function isWholeFrom1(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 1;
}

/** A rule of docs/domain.md 3.2, as are the next ones; null when the price keeps it. */
export function hasPositiveCount(price: PriceCadence): PriceRefusal | null {
  if (isWholeFrom1(price.billingPeriodCount)) return null;
  const remedy = 'give an integer of 1 or more';
  return refuse('billing_period_count_below_one', 'billing_period_count', remedy);
}

export function hasOneCadence(price: PriceCadence): PriceRefusal | null {
  if ((price.billingCadence === 'ONETIME') === (price.billingPeriod === 'ONETIME')) return null;
  const remedy = 'billing_cadence ONETIME and billing_period ONETIME belong together';
  return refuse('cadence_contradicts_period', 'billing_period', remedy);
}

export function onetimeIsFixedInAdvance(price: PriceCadence): PriceRefusal | null {
  if (price.billingCadence !== 'ONETIME') return null;
  const remedy = 'a ONETIME price is of type FIXED with invoice_cadence ADVANCE';
  if (price.type !== 'FIXED') return refuse('onetime_not_fixed_in_advance', 'type', remedy);
  if (price.invoiceCadence === 'ADVANCE') return null;
  return refuse('onetime_not_fixed_in_advance', 'invoice_cadence', remedy);
}

export function trialIsRecurringFixed(price: PriceCadence): PriceRefusal | null {
  const days = price.trialPeriodDays;
  if (days === null) return null;
  if (!isWholeFrom1(days)) {
    return refuse('trial_days_negative', 'trial_period_days', 'give an integer of 0 or more');
  }
  if (price.type === 'FIXED' && price.billingCadence === 'RECURRING') return null;
  const remedy = 'only a recurring FIXED price has trial days';
  return refuse('trial_not_recurring_fixed', 'trial_period_days', remedy);
}
