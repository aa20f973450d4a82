import { describe, expect, it } from 'vitest';
import { decimalOf, plain } from '../../../contract/decimal.js';
import { completePrice } from './complete-price.js';
import type { PriceTerms } from './price.js';
import type {
  PriceContext,
  PriceRefusalReason,
  PriceRequest,
  TierRequest,
} from './price-request.js';
import { isPriceRefusal } from './price-request.js';

const NOW_MS = Date.UTC(2026, 0, 15);
const CONTEXT: PriceContext = {
  nowMs: NOW_MS,
  owner: { entityType: 'PLAN', entityId: 'plan_1' },
  priceUnit: { id: 'pu_1', code: 'tok', baseCurrency: 'usd', conversionRate: decimalOf('0.01') },
};
const USD: PriceRequest = { currency: 'USD', entityId: 'plan_1' };
const FLAT: PriceRequest = { ...USD, amount: '10' };
const OPEN: TierRequest = { unitAmount: '1' };

function complete(request: PriceRequest): PriceTerms {
  const price = completePrice(request, CONTEXT);
  if (isPriceRefusal(price)) throw new Error(`${price.member}: ${price.reason}`);
  return price;
}

describe('defaults of an incomplete price (9.2)', () => {
  it('completes a usage price from its meter, currency and amount', () => {
    expect(JSON.parse(JSON.stringify(complete({ ...FLAT, meterId: 'meter_1' })))).toEqual({
      entityType: 'PLAN',
      entityId: 'plan_1',
      currency: 'usd',
      type: 'USAGE',
      billingModel: 'FLAT_FEE',
      amount: '10',
      tierMode: 'VOLUME',
      tiers: null,
      transformQuantity: null,
      billingCadence: 'RECURRING',
      billingPeriod: 'MONTHLY',
      billingPeriodCount: 1,
      invoiceCadence: 'ARREAR',
      meterId: 'meter_1',
      filterValues: {},
      minQuantity: null,
      trialPeriodDays: null,
      startMs: NOW_MS,
      endMs: null,
      priceUnitFigures: null,
    });
  });

  it('is FIXED in ADVANCE without a meter', () => {
    expect(complete(FLAT)).toMatchObject({ type: 'FIXED', invoiceCadence: 'ADVANCE' });
  });

  it.each<[string, PriceRequest, string]>([
    ['tiers', { ...USD, tiers: [OPEN] }, 'TIERED'],
    ['tiers, also with an amount', { ...FLAT, tiers: [OPEN] }, 'TIERED'],
    ['transform_quantity', { ...FLAT, transformQuantity: { divideBy: 100 } }, 'PACKAGE'],
    ['neither', FLAT, 'FLAT_FEE'],
  ])('the billing model follows from %s', (_, request, model) => {
    expect(complete(request).billingModel).toBe(model);
  });

  it.each<[string, PriceRequest]>([
    ['billing_cadence', { ...FLAT, billingCadence: 'ONETIME' }],
    ['billing_period', { ...FLAT, billingPeriod: 'ONETIME' }],
  ])('ONETIME as %s is ONETIME as both', (_, request) => {
    expect(complete(request)).toMatchObject({
      billingCadence: 'ONETIME',
      billingPeriod: 'ONETIME',
      invoiceCadence: 'ADVANCE',
    });
  });

  it('rounds packages up', () => {
    const price = complete({ ...FLAT, transformQuantity: { divideBy: 100 } });
    expect(price.transformQuantity).toEqual({ divideBy: 100, round: 'up' });
  });

  it('takes 0 trial days and a minimum quantity of 0 as absent (3.2)', () => {
    const price = complete({ ...FLAT, trialPeriodDays: 0, minQuantity: 0 });
    expect([price.trialPeriodDays, price.minQuantity]).toEqual([null, null]);
  });

  it('reads one filter text as a list of one (9.3)', () => {
    const filterValues = { region: 'eu', reason: ['a', 'b'], remedy: ['c'] };
    expect(complete({ ...FLAT, filterValues }).filterValues).toEqual({
      region: ['eu'],
      reason: ['a', 'b'],
      remedy: ['c'],
    });
  });

  it('stores members that its billing model does not use', () => {
    const price = complete({ ...FLAT, billingModel: 'FLAT_FEE', tiers: [OPEN] });
    expect([price.billingModel, price.tiers?.length]).toEqual(['FLAT_FEE', 1]);
  });

  it('keeps the digits of a minimum quantity', () => {
    expect(complete({ ...FLAT, minQuantity: 2.5 }).minQuantity?.toFixed()).toBe('2.5');
  });
});

describe('CUSTOM prices (8.6)', () => {
  const CUSTOM: PriceRequest = { ...USD, priceUnitType: 'CUSTOM' };

  it('are stored converted to fiat, unrounded, beside their own figures', () => {
    const price = complete({ ...CUSTOM, priceUnitConfig: { priceUnit: 'tok', amount: '0.125' } });
    expect([price.amount?.toFixed(), price.priceUnitFigures?.amount?.toFixed()]).toEqual([
      '0.00125',
      '0.125',
    ]);
  });

  it('convert every figure of every tier', () => {
    const priceUnitTiers = [
      { unitAmount: '5', flatAmount: '100', upTo: 10 },
      { unitAmount: '3' },
    ] as const;
    const price = complete({ ...CUSTOM, priceUnitConfig: { priceUnit: 'tok', priceUnitTiers } });
    expect(price.billingModel).toBe('TIERED');
    expect(JSON.parse(JSON.stringify([price.tiers, price.priceUnitFigures?.tiers]))).toEqual([
      [
        { unitAmount: '0.05', flatAmount: '1', upTo: 10 },
        { unitAmount: '0.03', flatAmount: null, upTo: null },
      ],
      [
        { unitAmount: '5', flatAmount: '100', upTo: 10 },
        { unitAmount: '3', flatAmount: null, upTo: null },
      ],
    ]);
  });
});

describe('rules (3.2)', () => {
  const METERED: PriceRequest = { ...FLAT, meterId: 'meter_1' };
  const PACKAGE: PriceRequest = { ...FLAT, billingModel: 'PACKAGE' };
  const tiered = (...tiers: TierRequest[]): PriceRequest => ({ ...USD, tiers });
  const bounded = (...bounds: (number | null)[]): PriceRequest =>
    tiered(...bounds.map((upTo) => ({ unitAmount: '1', upTo })));
  const custom = (change: PriceRequest): PriceRequest => ({
    ...USD,
    priceUnitType: 'CUSTOM',
    ...change,
  });
  const tok = { priceUnit: 'tok', amount: '1' };

  const CASES: readonly [PriceRefusalReason, string, PriceRequest][] = [
    ['currency_not_three_letters', 'currency', { ...FLAT, currency: null }],
    ['currency_not_three_letters', 'currency', { ...FLAT, currency: 'us' }],
    ['currency_not_three_letters', 'currency', { ...FLAT, currency: 'u$d' }],
    ['decimal_malformed', 'amount', { ...USD, amount: '1e3' }],
    ['decimal_malformed', 'amount', { ...USD, amount: '1000000000000.1' }],
    ['decimal_malformed', 'amount', { ...USD, amount: '0.0000000000000000001' }],
    ['amount_negative', 'amount', { ...USD, amount: '-1' }],
    ['amount_missing', 'amount', USD],
    ['amount_missing', 'amount', { ...USD, amount: '' }],
    ['amount_missing', 'amount', { ...USD, transformQuantity: { divideBy: 2 } }],
    ['transform_quantity_missing', 'transform_quantity', PACKAGE],
    [
      'divide_by_below_one',
      'transform_quantity.divide_by',
      { ...PACKAGE, transformQuantity: { divideBy: 0 } },
    ],
    [
      'divide_by_below_one',
      'transform_quantity.divide_by',
      { ...PACKAGE, transformQuantity: { divideBy: 1.5 } },
    ],
    ['tiers_missing', 'tiers', { ...FLAT, billingModel: 'TIERED' }],
    ['tiers_missing', 'tiers', { ...FLAT, billingModel: 'TIERED', tiers: [] }],
    [
      'tier_count_out_of_range',
      'tiers',
      bounded(...Array.from({ length: 100 }, (_, i) => i + 1), null),
    ],
    ['tiers_not_ascending', 'tiers.1.up_to', bounded(10, 10, null)],
    ['tiers_not_ascending', 'tiers.1.up_to', bounded(10, 9, null)],
    ['tiers_not_ascending', 'tiers.0.up_to', bounded(0, null)],
    ['tiers_not_ascending', 'tiers.0.up_to', bounded(1.5, null)],
    ['tiers_without_open_end', 'tiers.1.up_to', bounded(10, 20)],
    ['tiers_without_open_end', 'tiers.0.up_to', bounded(null, 10, null)],
    ['amount_negative', 'tiers.0.unit_amount', tiered({ unitAmount: '-1' })],
    ['amount_negative', 'tiers.0.flat_amount', tiered({ unitAmount: '1', flatAmount: '-0.01' })],
    ['decimal_malformed', 'tiers.0.unit_amount', tiered({ unitAmount: 'x' })],
    ['billing_period_count_below_one', 'billing_period_count', { ...FLAT, billingPeriodCount: 0 }],
    [
      'cadence_contradicts_period',
      'billing_period',
      { ...FLAT, billingCadence: 'RECURRING', billingPeriod: 'ONETIME' },
    ],
    [
      'cadence_contradicts_period',
      'billing_period',
      { ...FLAT, billingCadence: 'ONETIME', billingPeriod: 'MONTHLY' },
    ],
    ['meter_missing', 'meter_id', { ...FLAT, type: 'USAGE' }],
    ['usage_in_advance', 'invoice_cadence', { ...METERED, invoiceCadence: 'ADVANCE' }],
    ['usage_with_min_quantity', 'min_quantity', { ...METERED, minQuantity: 5 }],
    ['onetime_not_fixed_in_advance', 'type', { ...METERED, billingPeriod: 'ONETIME' }],
    [
      'onetime_not_fixed_in_advance',
      'invoice_cadence',
      { ...FLAT, billingPeriod: 'ONETIME', invoiceCadence: 'ARREAR' },
    ],
    ['trial_days_negative', 'trial_period_days', { ...FLAT, trialPeriodDays: -1 }],
    ['trial_not_recurring_fixed', 'trial_period_days', { ...METERED, trialPeriodDays: 7 }],
    [
      'trial_not_recurring_fixed',
      'trial_period_days',
      { ...FLAT, billingPeriod: 'ONETIME', trialPeriodDays: 7 },
    ],
    ['min_quantity_negative', 'min_quantity', { ...FLAT, minQuantity: -1 }],
    ['decimal_malformed', 'min_quantity', { ...FLAT, minQuantity: 1e21 }],
    ['filter_values_malformed', 'filter_values', { ...FLAT, filterValues: { region: [] } }],
    ['filter_values_malformed', 'filter_values', { ...FLAT, filterValues: { '': 'eu' } }],
    [
      'filter_values_malformed',
      'filter_values',
      { ...FLAT, filterValues: Object.fromEntries([...Array(101).keys()].map((n) => [n, 'x'])) },
    ],
    ['dates_reversed', 'end_date', { ...FLAT, startMs: 2, endMs: 1 }],
    ['dates_reversed', 'end_date', { ...FLAT, endMs: NOW_MS - 1 }],
    ['price_unit_forbidden', 'price_unit_config', { ...FLAT, priceUnitConfig: tok }],
    ['price_unit_missing', 'price_unit_config', custom({ amount: '1' })],
    [
      'price_unit_unknown',
      'price_unit_config.price_unit',
      custom({ priceUnitConfig: { priceUnit: 'other', amount: '1' } }),
    ],
    [
      'price_unit_of_other_currency',
      'price_unit_config.price_unit',
      custom({ currency: 'eur', priceUnitConfig: tok }),
    ],
    ['amount_given_twice', 'amount', custom({ amount: '1', priceUnitConfig: tok })],
    ['tiers_given_twice', 'tiers', custom({ tiers: [OPEN], priceUnitConfig: tok })],
    [
      'amount_missing',
      'price_unit_config.amount',
      custom({ priceUnitConfig: { priceUnit: 'tok' } }),
    ],
    [
      'amount_negative',
      'price_unit_config.amount',
      custom({ priceUnitConfig: { priceUnit: 'tok', amount: '-1' } }),
    ],
    [
      'tiers_without_open_end',
      'price_unit_config.price_unit_tiers.0.up_to',
      custom({
        priceUnitConfig: { priceUnit: 'tok', priceUnitTiers: [{ unitAmount: '1', upTo: 1 }] },
      }),
    ],
  ];

  it.each(CASES)('refuses %s and names %s', (reason, member, request) => {
    const refusal = completePrice(request, CONTEXT);
    expect(refusal).toMatchObject({ reason, member });
    expect(isPriceRefusal(refusal) && refusal.remedy !== '').toBe(true);
  });

  it('accepts 100 tiers, a past start and an end at the start', () => {
    const hundred = bounded(...Array.from({ length: 99 }, (_, index) => index + 1), null);
    expect(complete(hundred).tiers).toHaveLength(100);
    expect(complete({ ...FLAT, startMs: 0, endMs: 0 })).toMatchObject({ startMs: 0, endMs: 0 });
  });

  it('accepts an amount of 0 and the greatest amount', () => {
    const amounts = ['0', '1000000000000'].map((amount) => complete({ ...USD, amount }).amount);
    expect(amounts.map((amount) => amount && plain(amount))).toEqual(['0', '1000000000000']);
  });
});
