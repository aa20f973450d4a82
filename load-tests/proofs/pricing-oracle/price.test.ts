import { describe, expect, test } from 'vitest';
import { fraction, toText } from '../usage-oracle/fraction.js';
import { exact } from './exact.js';
import { moneyText, roundMoney } from './money.js';
import { chargeFor } from './price.js';
import type { Price } from './subscription.js';
import { splitAmount } from './largest-remainder.js';

function chargeText(price: Price, quantity: string): string {
  return toText(chargeFor(price, exact(quantity)));
}

function packages(round: 'up' | 'down'): Price {
  return { model: 'PACKAGE', amount: '5', divideBy: 100, round, unitRate: null };
}

function tiered(mode: 'VOLUME' | 'SLAB'): Price {
  const tiers = [
    { upTo: 100, unitAmount: '0.10', flatAmount: '0' },
    { upTo: 1000, unitAmount: '0.05', flatAmount: '2' },
    { upTo: null, unitAmount: '0.01', flatAmount: '0' },
  ];
  return { model: 'TIERED', mode, tiers, unitRate: null };
}

describe('charges (8)', () => {
  test('a flat fee multiplies', () => {
    const price: Price = { model: 'FLAT_FEE', amount: '0.0025', unitRate: null };
    expect(chargeText(price, '1234')).toBe('3.085');
    expect(moneyText('usd', roundMoney('usd', exact('3.085')))).toBe('3.09');
  });

  test.each([
    ['up', '250', '15'],
    ['up', '200', '10'],
    ['up', '1', '5'],
    ['up', '200.01', '15'],
    ['down', '250', '10'],
    ['down', '200', '10'],
    ['down', '1', '0'],
    ['down', '200.01', '10'],
  ] as const)('packages rounded %s: %s costs %s', (round, quantity, charge) => {
    expect(chargeText(packages(round), quantity)).toBe(charge);
  });

  test.each([
    ['VOLUME', '100', '10'],
    ['VOLUME', '100.5', '7.025'],
    ['VOLUME', '1000', '52'],
    ['VOLUME', '1000.001', '10.00001'],
    ['VOLUME', '1500', '15'],
    ['SLAB', '100', '10'],
    ['SLAB', '100.5', '12.025'],
    ['SLAB', '1000', '57'],
    ['SLAB', '1000.001', '57.00001'],
    ['SLAB', '1500', '62'],
  ] as const)('%s tiers: %s costs %s', (mode, quantity, charge) => {
    expect(chargeText(tiered(mode), quantity)).toBe(charge);
  });

  test('nothing costs nothing, a flat amount included', () => {
    const tiers = [{ upTo: null, unitAmount: '1', flatAmount: '2' }];
    expect(chargeText({ model: 'TIERED', mode: 'SLAB', tiers, unitRate: null }, '0')).toBe('0');
    expect(chargeText({ model: 'TIERED', mode: 'VOLUME', tiers, unitRate: null }, '0')).toBe('0');
  });

  test('amounts in custom units become money at their rate', () => {
    const price: Price = { model: 'FLAT_FEE', amount: '3', unitRate: '0.01' };
    expect(chargeText(price, '7')).toBe('0.21');
  });
});

describe('money (6)', () => {
  test.each([
    ['jpy', '0.5', '1'],
    ['usd', '0.005', '0.01'],
    ['usd', '0.00499', '0.00'],
    ['kwd', '1.0005', '1.001'],
    ['clf', '1.00005', '1.0001'],
    ['uyw', '-0.00005', '-0.0001'],
  ])('%s %s is rounded to %s', (currency, value, text) => {
    expect(moneyText(currency, roundMoney(currency, exact(value)))).toBe(text);
  });

  test('ten over three equal lines is 3.34, 3.33, 3.33', () => {
    const share = fraction(10n, 3n);
    const parts = splitAmount('usd', exact('10'), [share, share, share]);
    expect(parts.map((part) => moneyText('usd', part))).toEqual(['3.34', '3.33', '3.33']);
  });

  test('units go to the greatest remainders when shares only round to the amount', () => {
    const shares = ['3.335', '6.665', '0.004'].map(exact);
    const parts = splitAmount('usd', exact('10'), shares);
    expect(parts.map((part) => moneyText('usd', part))).toEqual(['3.34', '6.66', '0.00']);
  });
});
