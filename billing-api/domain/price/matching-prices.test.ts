import { describe, expect, it } from 'vitest';
import { FIXED_PRICE } from '../../testing/invoice-samples.js';
import { matchingPrices } from './matching-prices.js';
import type { PriceMatch } from './matching-prices.js';
import type { Price } from './price.js';
import type { BillingPeriod } from '../calendar/billing-grid.js';

const NOW_MS = Date.UTC(2026, 0, 15);
const MONTHLY: PriceMatch = { currency: 'usd', billingPeriod: 'MONTHLY', billingPeriodCount: 1 };
const matches = (price: Partial<Price>, subscription: PriceMatch = MONTHLY): boolean =>
  matchingPrices([{ ...FIXED_PRICE, ...price }], subscription, NOW_MS).length === 1;

describe('which prices attach (9.4)', () => {
  it.each<[string, number, string, number, boolean]>([
    ['MONTHLY', 1, 'MONTHLY', 1, true],
    ['QUARTERLY', 1, 'MONTHLY', 1, true],
    ['ANNUAL', 1, 'MONTHLY', 1, true],
    ['MONTHLY', 3, 'QUARTERLY', 1, true],
    ['QUARTERLY', 1, 'MONTHLY', 3, true],
    ['ANNUAL', 1, 'HALF_YEARLY', 1, true],
    ['MONTHLY', 1, 'QUARTERLY', 1, false],
    ['HALF_YEARLY', 1, 'MONTHLY', 4, false],
    ['ANNUAL', 1, 'MONTHLY', 5, false],
    ['WEEKLY', 2, 'WEEKLY', 1, true],
    ['WEEKLY', 1, 'DAILY', 1, false],
    ['DAILY', 7, 'WEEKLY', 1, false],
    ['DAILY', 30, 'MONTHLY', 1, false],
    ['DAILY', 10, 'DAILY', 5, true],
  ])('%s × %i on a subscription of %s × %i: %s', (...row) => {
    const [period, count, every, everyCount, isMatch] = row;
    const price = { billingPeriod: period as BillingPeriod, billingPeriodCount: count };
    const subscription: PriceMatch = {
      currency: 'usd',
      billingPeriod: every as BillingPeriod,
      billingPeriodCount: everyCount,
    };
    expect(matches(price, subscription)).toBe(isMatch);
  });

  it('takes a ONETIME price whatever the length of the subscription', () => {
    const onetime = { billingCadence: 'ONETIME', billingPeriod: 'ONETIME' } as const;
    expect(matches(onetime, { ...MONTHLY, billingPeriod: 'DAILY' })).toBe(true);
  });

  it.each<[string, Partial<Price>, boolean]>([
    ['another currency', { currency: 'eur' }, false],
    ['an end at this instant', { endMs: NOW_MS }, false],
    ['an end after this instant', { endMs: NOW_MS + 1 }, true],
    ['an archived price', { status: 'archived' }, false],
    ['a deleted price', { status: 'deleted' }, false],
    ['a price that has not started', { startMs: NOW_MS + 1 }, true],
  ])('%s: %o %s', (_, price, isMatch) => {
    expect(matches(price)).toBe(isMatch);
  });

  it('keeps the order of the prices', () => {
    const prices = ['c', 'a', 'b'].map((id) => ({ ...FIXED_PRICE, id }));
    const ids = matchingPrices(prices, MONTHLY, NOW_MS).map((price) => price.id);
    expect(ids).toEqual(['c', 'a', 'b']);
  });
});
