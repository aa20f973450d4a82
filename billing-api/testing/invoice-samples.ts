import { ONE, ZERO, decimalOf } from '../../contract/number/decimal.js';
import { parseInstant } from '../../contract/instant.js';
import { Money } from '../domain/money/money.js';
import type { EntitlementSource } from '../domain/entitlement/entitlement.js';
import type { Price } from '../domain/price/price.js';
import type { LineItem } from '../domain/invoice/line-item.js';
import type { LineMeter } from '../domain/usage/line-meter.js';
import { openLedger } from '../domain/periods/ledger-rows.js';
import type { SubscriptionTerms } from '../domain/invoice/subscription-terms.js';
import type { InvoiceInputs } from '../domain/invoice/invoice.js';
import type { LineUsage } from '../domain/usage/line-usage.js';

/** Records that the tests of this folder vary; each has only ordinary members. */

/** An amount of US dollars. */
export function usd(amount: string): Money {
  return new Money<string>(decimalOf(amount), 'usd');
}

/** Midnight UTC of a date. */
export function day(date: string): number {
  const instant = parseInstant(`${date}T00:00:00Z`);
  if (instant === null) throw new TypeError(`not a date: ${date}`);
  return instant;
}

/** A subscription as it is when it begins. */
export type OpenedSubscription = Omit<SubscriptionTerms, 'periods'> &
  Parameters<typeof openLedger>[1];

const OPENED: OpenedSubscription = {
  currency: 'usd',
  billingCadence: 'RECURRING',
  billingCycle: 'anniversary',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  billingAnchorMs: day('2026-01-01'),
  startMs: day('2026-01-01'),
  endMs: null,
  trialEndMs: null,
  timezone: 'UTC',
  prorationBehavior: 'none',
  commitment: null,
};

/** A subscription with its first period: monthly from 1 January 2026, but for what is changed. */
export function subscriptionOf(change: Partial<OpenedSubscription> = {}): SubscriptionTerms {
  const { startMs, billingAnchorMs, trialEndMs, ...terms } = { ...OPENED, ...change };
  const { periods } = openLedger(terms, { startMs, billingAnchorMs, trialEndMs });
  return { ...terms, periods };
}

/** Monthly from 1 January 2026, without an end. */
export const MONTHLY: SubscriptionTerms = subscriptionOf();

/** 0.0025 usd per unit, monthly in arrear. */
export const USAGE_PRICE: Price = {
  id: 'price_calls',
  status: 'published',
  type: 'USAGE',
  currency: 'usd',
  billingModel: 'FLAT_FEE',
  amount: decimalOf('0.0025'),
  tierMode: 'VOLUME',
  tiers: null,
  transformQuantity: null,
  billingCadence: 'RECURRING',
  billingPeriod: 'MONTHLY',
  billingPeriodCount: 1,
  invoiceCadence: 'ARREAR',
  entityType: 'PLAN',
  entityId: 'plan_1',
  meterId: 'meter_1',
  filterValues: {},
  minQuantity: null,
  trialPeriodDays: null,
  startMs: day('2025-01-01'),
  isStartGiven: true,
  endMs: null,
  priceUnitFigures: null,
};

/** 100.00 usd a month in advance. */
export const FIXED_PRICE: Price = {
  ...USAGE_PRICE,
  id: 'price_base',
  type: 'FIXED',
  amount: decimalOf('100'),
  invoiceCadence: 'ADVANCE',
  meterId: null,
};

/** Counts calls of two regions over the billing period. */
export const METER: LineMeter = {
  id: 'meter_1',
  version: 1,
  displayName: 'API calls',
  eventName: 'api_call',
  aggregationType: 'COUNT',
  eventValue: { field: null, expression: null, multiplier: null },
  filters: [{ key: 'region', values: ['eu', 'us'] }],
  resetUsage: 'BILLING_PERIOD',
  bucketSize: null,
  groupBy: null,
};

/** 10 calls of the meter free in every billing period, always. */
export const TEN_FREE: EntitlementSource = {
  entitlementId: 'entitlement',
  parentEntitlementId: null,
  featureId: 'feature',
  featureType: 'metered',
  meterId: METER.id,
  isEnabled: true,
  isSoftLimit: false,
  usageLimit: decimalOf('10'),
  usageResetPeriod: null,
  staticValue: null,
  createdAtMs: 0,
  validity: { startMs: 0, endMs: Infinity },
};

const LINE: Omit<LineItem, 'id' | 'price' | 'quantity' | 'meter'> = {
  predecessorId: null,
  createdAtMs: day('2026-01-01'),
  entityType: 'plan',
  entityId: 'plan_1',
  displayName: 'API calls',
  planDisplayName: 'Pro',
  startMs: day('2026-01-01'),
  endMs: null,
  commitment: null,
};

/** A usage line from the start of the subscription. */
export function usageLine(id: string, change: Partial<LineItem> = {}): LineItem {
  return { ...LINE, id, price: USAGE_PRICE, quantity: ZERO, meter: METER, ...change };
}

/** A FIXED line of quantity 1 from the start of the subscription. */
export function fixedLine(id: string, change: Partial<LineItem> = {}): LineItem {
  return { ...LINE, id, price: FIXED_PRICE, quantity: ONE, meter: null, ...change };
}

/** Usage without any split. */
export function usageOf(usage: string, eventCount = 1): LineUsage {
  return {
    usage: decimalOf(usage),
    eventCount,
    buckets: null,
    intervals: [],
    bySource: [],
    byGrouping: [],
  };
}

/** January 2026 at its end, with nothing on it. */
export const JANUARY: InvoiceInputs = {
  subscription: MONTHLY,
  period: { startMs: day('2026-01-01'), endMs: day('2026-02-01') },
  referencePoint: 'period_end',
  lineItems: [],
  alreadyInvoiced: [],
  entitlements: [],
  usage: new Map(),
  asOfMs: day('2026-02-01'),
  priorCommitments: [],
  coupons: [],
  taxes: [],
  wallets: [],
  dueDays: 1,
  hideZeroCharges: false,
};
