import { describe, expect, it } from 'vitest';
import { decimalOf, plain } from '../../../contract/number/decimal.js';
import { completePrice, overridePrice, type PriceContext } from './complete-price.js';
import type { TierBody } from './price-figures.js';
import { overridesModel, type PriceOverrideBody } from './price-model.js';
import { isPriceRefusal, type PriceRefusal } from './price-refusal.js';
import type { PriceBody, PriceTerms } from './price.js';

const NOW_MS = Date.UTC(2026, 0, 15);
const CONTEXT: PriceContext = {
  owner: { entityType: 'PLAN', entityId: 'plan_1' },
  startMs: NOW_MS,
  isStartGiven: false,
  endMs: null,
  priceUnit: { id: 'pu_1', code: 'tok', baseCurrency: 'usd', conversionRate: decimalOf('0.01') },
};
const USD: PriceBody = { currency: 'USD' };
const FLAT: PriceBody = { ...USD, amount: '10' };
const OPEN: TierBody = { unit_amount: '1' };

function accepted(price: PriceTerms | PriceRefusal): PriceTerms {
  if (isPriceRefusal(price)) throw new Error(`${price.member}: ${price.reason}`);
  return price;
}

function complete(body: PriceBody): PriceTerms {
  return accepted(completePrice(body, CONTEXT));
}

const custom = (change: Partial<PriceBody>): PriceBody => ({
  ...USD,
  price_unit_type: 'CUSTOM',
  ...change,
});
const tok = { price_unit: 'tok', amount: '1' };

describe('defaults of an incomplete price (9.2)', () => {
  it('completes a usage price from its meter, currency and amount', () => {
    expect(JSON.parse(JSON.stringify(complete({ ...FLAT, meter_id: 'meter_1' })))).toEqual({
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
      isStartGiven: false,
      endMs: null,
      priceUnitFigures: null,
    });
  });

  it('is FIXED in ADVANCE without a meter', () => {
    expect(complete(FLAT)).toMatchObject({ type: 'FIXED', invoiceCadence: 'ADVANCE' });
  });

  it.each<[string, PriceBody, string]>([
    ['tiers', { ...USD, tiers: [OPEN] }, 'TIERED'],
    ['tiers, also with an amount', { ...FLAT, tiers: [OPEN] }, 'TIERED'],
    ['transform_quantity', { ...FLAT, transform_quantity: { divide_by: 100 } }, 'PACKAGE'],
    ['neither', FLAT, 'FLAT_FEE'],
  ])('the billing model follows from %s', (_, request, model) => {
    expect(complete(request).billingModel).toBe(model);
  });

  it.each<[string, PriceBody]>([
    ['billing_cadence', { ...FLAT, billing_cadence: 'ONETIME' }],
    ['billing_period', { ...FLAT, billing_period: 'ONETIME' }],
  ])('ONETIME as %s is ONETIME as both', (_, request) => {
    expect(complete(request)).toMatchObject({
      billingCadence: 'ONETIME',
      billingPeriod: 'ONETIME',
      invoiceCadence: 'ADVANCE',
    });
  });

  it('rounds packages up', () => {
    const price = complete({ ...FLAT, transform_quantity: { divide_by: 100 } });
    expect(price.transformQuantity).toEqual({ divideBy: 100, round: 'up' });
  });

  it('takes 0 trial days and a minimum quantity of 0 as absent (3.2)', () => {
    const price = complete({ ...FLAT, trial_period_days: 0, min_quantity: 0 });
    expect([price.trialPeriodDays, price.minQuantity]).toEqual([null, null]);
  });

  it('reads one filter text as a list of one (9.3)', () => {
    const filter_values = { region: 'eu', reason: ['a', 'b'], remedy: ['c'] };
    expect(complete({ ...FLAT, filter_values }).filterValues).toEqual({
      region: ['eu'],
      reason: ['a', 'b'],
      remedy: ['c'],
    });
  });

  it('stores members that its billing model does not use', () => {
    const price = complete({ ...FLAT, billing_model: 'FLAT_FEE', tiers: [OPEN] });
    expect([price.billingModel, price.tiers?.length]).toEqual(['FLAT_FEE', 1]);
  });

  it('keeps the digits of a minimum quantity', () => {
    expect(complete({ ...FLAT, min_quantity: 2.5 }).minQuantity?.toFixed()).toBe('2.5');
  });
});

it('takes members of FIXED prices on a USAGE price without effect', () => {
  const usage = complete({ ...FLAT, meter_id: 'meter_1', min_quantity: 5, trial_period_days: 7 });
  expect([usage.minQuantity, usage.trialPeriodDays]).toEqual([null, null]);
});

describe('CUSTOM prices (8.6)', () => {
  const CUSTOM: PriceBody = { ...USD, price_unit_type: 'CUSTOM' };

  it('are stored converted to fiat, unrounded, beside their own figures', () => {
    const price = complete({
      ...CUSTOM,
      price_unit_config: { price_unit: 'tok', amount: '0.125' },
    });
    expect([price.amount?.toFixed(), price.priceUnitFigures?.amount?.toFixed()]).toEqual([
      '0.00125',
      '0.125',
    ]);
  });

  it('convert every figure of every tier', () => {
    const price_unit_tiers = [
      { unit_amount: '5', flat_amount: '100', up_to: 10 },
      { unit_amount: '3' },
    ] as const;
    const price = complete({
      ...CUSTOM,
      price_unit_config: { price_unit: 'tok', price_unit_tiers },
    });
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
  const METERED: PriceBody = { ...FLAT, meter_id: 'meter_1' };
  const PACKAGE: PriceBody = { ...FLAT, billing_model: 'PACKAGE' };
  const tiered = (...tiers: TierBody[]): PriceBody => ({ ...USD, tiers });
  const bounded = (...bounds: (number | null)[]): PriceBody =>
    tiered(...bounds.map((bound) => (bound === null ? OPEN : { ...OPEN, up_to: bound })));

  const CASES: readonly [string, string, PriceBody][] = [
    ['currency_not_three_letters', 'currency', { ...FLAT, currency: '' }],
    ['currency_not_three_letters', 'currency', { ...FLAT, currency: 'us' }],
    ['currency_not_three_letters', 'currency', { ...FLAT, currency: 'u$d' }],
    ['decimal_malformed', 'amount', { ...USD, amount: '1e3' }],
    ['decimal_malformed', 'amount', { ...USD, amount: '1000000000000.1' }],
    ['decimal_malformed', 'amount', { ...USD, amount: '0.0000000000000000001' }],
    ['amount_negative', 'amount', { ...USD, amount: '-1' }],
    ['amount_missing', 'amount', USD],
    ['amount_missing', 'amount', { ...USD, amount: '' }],
    ['amount_missing', 'amount', { ...USD, transform_quantity: { divide_by: 2 } }],
    ['transform_quantity_missing', 'transform_quantity', PACKAGE],
    [
      'divide_by_below_one',
      'transform_quantity.divide_by',
      { ...PACKAGE, transform_quantity: { divide_by: 0 } },
    ],
    [
      'divide_by_below_one',
      'transform_quantity.divide_by',
      { ...PACKAGE, transform_quantity: { divide_by: 1.5 } },
    ],
    ['tiers_missing', 'tiers', { ...FLAT, billing_model: 'TIERED' }],
    ['tiers_missing', 'tiers', { ...FLAT, billing_model: 'TIERED', tiers: [] }],
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
    ['amount_negative', 'tiers.0.unit_amount', tiered({ unit_amount: '-1' })],
    ['amount_negative', 'tiers.0.flat_amount', tiered({ unit_amount: '1', flat_amount: '-0.01' })],
    ['decimal_malformed', 'tiers.0.unit_amount', tiered({ unit_amount: 'x' })],
    [
      'billing_period_count_below_one',
      'billing_period_count',
      { ...FLAT, billing_period_count: 0 },
    ],
    [
      'cadence_contradicts_period',
      'billing_period',
      { ...FLAT, billing_cadence: 'RECURRING', billing_period: 'ONETIME' },
    ],
    [
      'cadence_contradicts_period',
      'billing_period',
      { ...FLAT, billing_cadence: 'ONETIME', billing_period: 'MONTHLY' },
    ],
    ['maximum_without_usage', 'max_amount', { ...FLAT, max_amount: '5' }],
    ['maximum_zero', 'max_amount', { ...METERED, max_amount: '0' }],
    ['maximum_too_fine', 'max_amount', { ...METERED, max_amount: '5.001' }],
    ['amount_negative', 'max_amount', { ...METERED, max_amount: '-5' }],
    ['meter_missing', 'meter_id', { ...FLAT, type: 'USAGE' }],
    ['usage_in_advance', 'invoice_cadence', { ...METERED, invoice_cadence: 'ADVANCE' }],
    ['onetime_not_fixed_in_advance', 'type', { ...METERED, billing_period: 'ONETIME' }],
    [
      'onetime_not_fixed_in_advance',
      'invoice_cadence',
      { ...FLAT, billing_period: 'ONETIME', invoice_cadence: 'ARREAR' },
    ],
    ['trial_days_negative', 'trial_period_days', { ...FLAT, trial_period_days: -1 }],
    [
      'trial_not_recurring_fixed',
      'trial_period_days',
      { ...FLAT, billing_period: 'ONETIME', trial_period_days: 7 },
    ],
    ['min_quantity_negative', 'min_quantity', { ...FLAT, min_quantity: -1 }],
    ['decimal_malformed', 'min_quantity', { ...FLAT, min_quantity: 1e21 }],
    ['filter_values_malformed', 'filter_values', { ...FLAT, filter_values: { region: [] } }],
    ['filter_values_malformed', 'filter_values', { ...FLAT, filter_values: { '': 'eu' } }],
    [
      'filter_values_malformed',
      'filter_values',
      { ...FLAT, filter_values: Object.fromEntries([...Array(101).keys()].map((n) => [n, 'x'])) },
    ],
    ['price_unit_forbidden', 'price_unit_config', { ...FLAT, price_unit_config: tok }],
    ['price_unit_missing', 'price_unit_config', custom({ amount: '1' })],
    [
      'price_unit_unknown',
      'price_unit_config.price_unit',
      custom({ price_unit_config: { price_unit: 'other', amount: '1' } }),
    ],
    [
      'price_unit_of_other_currency',
      'price_unit_config.price_unit',
      custom({ currency: 'eur', price_unit_config: tok }),
    ],
    ['amount_given_twice', 'amount', custom({ amount: '1', price_unit_config: tok })],
    ['tiers_given_twice', 'tiers', custom({ tiers: [OPEN], price_unit_config: tok })],
    [
      'amount_missing',
      'price_unit_config.amount',
      custom({ price_unit_config: { price_unit: 'tok' } }),
    ],
    [
      'amount_negative',
      'price_unit_config.amount',
      custom({ price_unit_config: { price_unit: 'tok', amount: '-1' } }),
    ],
    [
      'tiers_without_open_end',
      'price_unit_config.price_unit_tiers.0.up_to',
      custom({
        price_unit_config: {
          price_unit: 'tok',
          price_unit_tiers: [{ unit_amount: '1', up_to: 1 }],
        },
      }),
    ],
  ];

  it.each(CASES)('refuses %s and names %s', (reason, member, request) => {
    const refusal = completePrice(request, CONTEXT);
    expect(refusal).toMatchObject({ reason, member });
    expect(isPriceRefusal(refusal) && refusal.remedy !== '').toBe(true);
  });

  it.each([
    ['before a given start', { startMs: 2, endMs: 1 }],
    ['before now', { startMs: NOW_MS, endMs: NOW_MS - 1 }],
  ])('refuses dates_reversed: an end %s', (_, dates) => {
    const refusal = completePrice(FLAT, { ...CONTEXT, ...dates });
    expect(refusal).toMatchObject({ reason: 'dates_reversed', member: 'end_date' });
  });

  it('accepts 100 tiers, a past start and an end at the start', () => {
    const hundred = bounded(...Array.from({ length: 99 }, (_, index) => index + 1), null);
    expect(complete(hundred).tiers).toHaveLength(100);
    const dates = { startMs: 0, endMs: 0 };
    expect(completePrice(FLAT, { ...CONTEXT, ...dates })).toMatchObject(dates);
  });

  it('accepts an amount of 0 and the greatest amount', () => {
    const amounts = ['0', '1000000000000'].map((amount) => complete({ ...USD, amount }).amount);
    expect(amounts.map((amount) => amount && plain(amount))).toEqual(['0', '1000000000000']);
  });
});

describe('overridePrice (9.5)', () => {
  const OWNER = { entityType: 'SUBSCRIPTION', entityId: 'subs_1' } as const;
  const override = (base: PriceBody, body: PriceOverrideBody): PriceTerms =>
    accepted(overridePrice(complete(base), body, OWNER));

  it('keeps what the override leaves out, to the last digit, and changes the owner', () => {
    const base = {
      ...FLAT,
      min_quantity: 2.5,
      trial_period_days: 7,
      transform_quantity: { divide_by: 3 },
    };
    expect(override(base, { amount: '9' })).toEqual({
      ...complete(base),
      ...OWNER,
      amount: decimalOf('9'),
    });
  });

  it.each<[string, PriceOverrideBody, string]>([
    ['tiers', { tiers: [OPEN] }, 'TIERED'],
    ['transform_quantity', { transform_quantity: { divide_by: 2 } }, 'PACKAGE'],
    ['billing_model', { billing_model: 'FLAT_FEE', tiers: [OPEN] }, 'FLAT_FEE'],
    ['the price itself', { amount: '9' }, 'FLAT_FEE'],
  ])('the billing model follows from %s', (_, body, model) => {
    expect(override(FLAT, body).billingModel).toBe(model);
  });

  it('keeps a CUSTOM price in its unit, and changes its figures there at the frozen rate', () => {
    const base = custom({
      price_unit_config: { price_unit: 'tok', amount: '5', price_unit_tiers: [OPEN] },
      billing_model: 'FLAT_FEE',
    });
    const figuresOf = ({ amount, tiers, priceUnitFigures: own }: PriceTerms): unknown =>
      JSON.parse(JSON.stringify([amount, own?.amount, own?.priceUnit, tiers, own?.tiers]));
    expect(figuresOf(override(base, { billing_model: 'TIERED' }))).toEqual(
      figuresOf(complete(base)),
    );
    const changed = override(base, { price_unit_amount: '7' });
    expect([changed.amount?.toFixed(), changed.priceUnitFigures?.amount?.toFixed()]).toEqual([
      '0.07',
      '7',
    ]);
    expect(changed.billingModel).toBe('FLAT_FEE');
    const tiered = override(base, { price_unit_tiers: [{ unit_amount: '300' }] });
    expect(tiered.billingModel).toBe('TIERED');
    expect(tiered.tiers?.[0]?.unitAmount.toFixed()).toBe('3');
    expect(tiered.priceUnitFigures?.tiers?.[0]?.unitAmount.toFixed()).toBe('300');
  });

  it.each<{ base: PriceBody; body: PriceOverrideBody; member: string }>([
    { base: custom({ price_unit_config: tok }), body: { amount: '1' }, member: 'amount' },
    { base: custom({ price_unit_config: tok }), body: { tiers: [OPEN] }, member: 'tiers' },
    { base: FLAT, body: { price_unit_amount: '1' }, member: 'price_unit_amount' },
    { base: FLAT, body: { price_unit_tiers: [OPEN] }, member: 'price_unit_tiers' },
    {
      base: custom({ price_unit_config: tok }),
      body: { price_unit_amount: '-1' },
      member: 'price_unit_amount',
    },
  ])('refuses $member of another kind of price, or below 0', ({ base, body, member }) => {
    expect(overridePrice(complete(base), body, OWNER)).toMatchObject({ member });
  });

  /** A member without a sample does not compile. */
  const samples: Readonly<Record<keyof PriceOverrideBody, [PriceBody, PriceOverrideBody]>> = {
    billing_model: [{ ...FLAT, tiers: [OPEN] }, { billing_model: 'FLAT_FEE' }],
    amount: [FLAT, { amount: '9' }],
    tier_mode: [FLAT, { tier_mode: 'SLAB' }],
    tiers: [FLAT, { tiers: [OPEN] }],
    transform_quantity: [FLAT, { transform_quantity: { divide_by: 2 } }],
    max_amount: [{ ...FLAT, meter_id: 'meter_1' }, { max_amount: '9' }],
    price_unit_amount: [custom({ price_unit_config: tok }), { price_unit_amount: '7' }],
    price_unit_tiers: [custom({ price_unit_config: tok }), { price_unit_tiers: [OPEN] }],
  };

  it.each(Object.entries(samples))('bills what %s alone gives', (_, [base, body]) => {
    expect(overridesModel(body)).toBe(true);
    expect(override(base, body)).not.toEqual({ ...complete(base), ...OWNER });
  });

  it('gives nothing without a member', () => {
    expect(overridesModel({})).toBe(false);
  });

  it('refuses what the rules refuse in a new price', () => {
    const refusal = overridePrice(complete(FLAT), { billing_model: 'PACKAGE' }, OWNER);
    expect(refusal).toMatchObject({ reason: 'transform_quantity_missing' });
  });
});
