import { describe, expect, it } from 'vitest';
import { decimalOf } from '../../../contract/number/decimal.js';
import type { TaxAssociation, TaxRateTerms } from './adjustments.js';
import { applyTaxes, type TaxContext } from './apply-taxes.js';
import { formatMoney } from '../money/money.js';
import { usd } from '../../testing/invoice-samples.js';

const rate = (id: string, percent: string, isActive = true): TaxRateTerms => ({
  id,
  isActive,
  type: 'percentage',
  percentage: decimalOf(percent),
});
const NOW = 1000;
const tax = (
  id: string,
  level: TaxAssociation['level'],
  change: Partial<TaxAssociation> = {},
): TaxAssociation => ({
  id,
  level,
  entityId: `${level}_1`,
  rate: rate(`rate_${id}`, '20'),
  priority: 0,
  currency: null,
  validity: { startMs: 0, endMs: Infinity },
  isAutoApplied: true,
  ...change,
});
const context = (taxes: readonly TaxAssociation[]): TaxContext => ({
  taxes,
  atMs: NOW,
});
/** `association amount` of every tax. */
const taxed = (taxable: string, ...taxes: TaxAssociation[]): string[] =>
  applyTaxes(usd(taxable), context(taxes)).map(
    ({ association, taxAmount }) => `${association.id} ${formatMoney(taxAmount)}`,
  );

describe('amount of a tax (13.2)', () => {
  it('20 % of 135 is 27', () => {
    expect(taxed('135', tax('a', 'customer'))).toEqual(['a 27.00']);
  });

  it('each is rounded by itself and on the same amount, not compounded', () => {
    const [a, b] = ['a', 'b'].map((id) => tax(id, 'customer', { rate: rate(id, '5') }));
    expect(a && b && taxed('0.10', a, b)).toEqual(['a 0.01', 'b 0.01']);
  });

  it('a fixed value is rounded when it is applied', () => {
    const fixed: TaxRateTerms = {
      id: 'fixed',
      isActive: true,
      type: 'fixed',
      fixedValue: decimalOf('1.005'),
    };
    expect(taxed('10', tax('a', 'customer', { rate: fixed }))).toEqual(['a 1.01']);
    expect(taxed('0', tax('a', 'customer', { rate: fixed }))).toEqual(['a 0.00']);
  });

  it('is 0 on an amount of 0 or less', () => {
    expect(taxed('0', tax('a', 'customer'))).toEqual(['a 0.00']);
    expect(taxed('-10', tax('a', 'customer'))).toEqual(['a 0.00']);
  });
});

describe('applicable taxes (15)', () => {
  const [subscription, customer, tenant, invoice] = [
    tax('s', 'subscription'),
    tax('c', 'customer'),
    tax('t', 'tenant'),
    tax('i', 'invoice'),
  ];

  it('are those of the most specific level that has any, and those of the invoice', () => {
    expect(taxed('10', subscription, customer, tenant)).toEqual(['s 2.00']);
    expect(taxed('10', customer, tenant)).toEqual(['c 2.00']);
    expect(taxed('10', tenant)).toEqual(['t 2.00']);
    expect(taxed('10', customer, invoice)).toEqual(['c 2.00', 'i 2.00']);
  });

  it('of the tenant only those that apply by themselves', () => {
    expect(taxed('10', { ...tenant, isAutoApplied: false })).toEqual([]);
  });

  it('leave out rates that are not active, other currencies and other dates', () => {
    const of = (change: Partial<TaxAssociation>): string[] =>
      taxed('10', { ...customer, ...change });
    expect(of({ rate: rate('r', '20', false) })).toEqual([]);
    expect(of({ currency: 'eur' })).toEqual([]);
    expect(of({ currency: 'usd' })).toEqual(['c 2.00']);
    expect(of({ validity: { startMs: NOW + 1, endMs: Infinity } })).toEqual([]);
    expect(of({ validity: { startMs: 0, endMs: NOW } })).toEqual([]);
    expect(of({ validity: { startMs: NOW, endMs: NOW + 1 } })).toEqual(['c 2.00']);
  });

  it('count a rate once, at its first place', () => {
    const same = rate('same', '20');
    const taxes = [tax('b', 'customer', { rate: same }), tax('a', 'invoice', { rate: same })];
    expect(taxed('10', ...taxes)).toEqual(['a 2.00']);
  });

  it('are ordered by priority, then id', () => {
    const taxes = [
      tax('a', 'customer', { priority: 2 }),
      tax('c', 'customer'),
      tax('b', 'customer'),
    ];
    expect(taxed('10', ...taxes)).toEqual(['b 2.00', 'c 2.00', 'a 2.00']);
  });
});
