import { describe, expect, it } from 'vitest';
import { decimalOf } from '../../../contract/number/decimal.js';
import { completePrice } from './complete-price.js';
import { isPriceRefusal } from './price-refusal.js';
import type { PriceBody, PriceTerms } from './price.js';
import { succeedingPrice, type PriceChangeBody } from './succeeding-price.js';

const START = Date.parse('2026-01-01T00:00:00Z');
const END = Date.parse('2027-01-01T00:00:00Z');
const FROM = Date.parse('2026-02-01T00:00:00Z');
const TOKENS = {
  id: 'price_unit_1',
  code: 'TOK',
  baseCurrency: 'usd',
  conversionRate: decimalOf('0.01'),
};

function priceOf(body: Omit<PriceBody, 'currency'>): PriceTerms {
  const owner = { entityType: 'PLAN', entityId: 'plan_1' } as const;
  const context = { owner, startMs: START, isStartGiven: true, endMs: END, priceUnit: TOKENS };
  const price = completePrice({ ...body, currency: 'usd' }, context);
  if (isPriceRefusal(price)) throw new Error(price.remedy);
  return price;
}

const FLAT = priceOf({ meter_id: 'meter_1', amount: '0.5', filter_values: { region: 'eu' } });
const CUSTOM = priceOf({
  price_unit_type: 'CUSTOM',
  price_unit_config: { price_unit: 'TOK', amount: '309' },
});

function changed(base: PriceTerms, change: PriceChangeBody): PriceTerms {
  const price = succeedingPrice(base, change, FROM);
  if (isPriceRefusal(price)) throw new Error(price.remedy);
  return price;
}

describe('the successor of a price', () => {
  it('starts when its predecessor ends, and keeps everything that the change leaves out', () => {
    expect(changed(FLAT, { amount: '0.75' })).toEqual({
      ...FLAT,
      startMs: FROM,
      amount: decimalOf('0.75'),
    });
  });

  it('has the billing model that the given members imply, as a new price would', () => {
    const tiers = [
      { up_to: 10, unit_amount: '1' },
      { up_to: null, unit_amount: '0.5' },
    ];
    expect(changed(FLAT, { tiers, tier_mode: 'SLAB' })).toMatchObject({
      billingModel: 'TIERED',
      tierMode: 'SLAB',
      tiers: [{ upTo: 10 }, { upTo: null, flatAmount: null }],
    });
    const packages = changed(FLAT, { transform_quantity: { divide_by: 10 } });
    expect(packages).toMatchObject({
      billingModel: 'PACKAGE',
      transformQuantity: { divideBy: 10, round: 'up' },
    });
  });

  it('of a price in a unit has the new figures in it, and in money at the frozen rate', () => {
    const config = { price_unit: 'TOK', amount: '500' };
    const price = changed(CUSTOM, { price_unit_config: config });
    expect([price.amount, price.priceUnitFigures?.amount]).toEqual([
      decimalOf('5'),
      decimalOf('500'),
    ]);
    expect(price.priceUnitFigures?.conversionRate).toEqual(decimalOf('0.01'));
  });

  const UNIT = { price_unit: 'TOK', amount: '1' };
  const REFUSED: readonly (readonly [PriceTerms, PriceChangeBody, member: string, why: string])[] =
    [
      [FLAT, { amount: '-1' }, 'amount', 'amount_negative'],
      [FLAT, { billing_model: 'TIERED' }, 'tiers', 'tiers_missing'],
      [FLAT, { price_unit_config: UNIT }, 'price_unit_config', 'price_unit_forbidden'],
      [
        CUSTOM,
        { price_unit_config: { ...UNIT, price_unit: 'CU' } },
        'price_unit_config.price_unit',
        'price_unit_changed',
      ],
      [
        CUSTOM,
        { price_unit_config: { ...UNIT, amount: '-1' } },
        'price_unit_config.amount',
        'amount_negative',
      ],
      [CUSTOM, { amount: '1' }, 'amount', 'figures_in_money'],
    ];

  it('is refused where it breaks a rule, naming the member', () => {
    for (const [base, change, member, reason] of REFUSED) {
      expect(succeedingPrice(base, change, FROM)).toMatchObject({ member, reason });
    }
  });
});
