import { describe, expect, test } from 'vitest';
import type { PricedInvoice } from './invoice.js';
import {
  calls,
  invoiceOf,
  plainMeter,
  plainSubscription,
  usageItem,
} from './plain-subscription.js';
import type { EntitlementSource, Feature, Subscription } from './subscription.js';

function source(id: string, changes: Partial<EntitlementSource> = {}): EntitlementSource {
  return {
    id,
    createdAt: 0,
    scope: 'PLAN',
    parentId: null,
    isEnabled: true,
    limit: '0',
    reset: null,
    start: null,
    end: null,
    associations: [],
    ...changes,
  };
}

function feature(...sources: readonly EntitlementSource[]): Feature {
  return { id: 'feature', meterId: 'meter', sources };
}

function billed(invoice: PricedInvoice): readonly (readonly [string, string, string | null])[] {
  return invoice.lines.map(({ quantity, amount, adjustedEntitlementQuantity }) => [
    quantity,
    amount,
    adjustedEntitlementQuantity,
  ]);
}

const items = [usageItem('line')];

describe('allowances (10.2)', () => {
  test('ten a day over 12, 8 and 15 bill 7', () => {
    const events = calls(
      ['2026-01-01T10:00Z', '12'],
      ['2026-01-02T10:00Z', '8'],
      ['2026-01-03T10:00Z', '15'],
    );
    const features = [feature(source('plan', { limit: '10', reset: 'DAILY' }))];
    expect(billed(invoiceOf({ items, events, features }))).toEqual([['35', '7.00', '28']]);
  });

  test('a lifetime allowance is used up by the periods before', () => {
    const events = calls(['2026-01-10T00:00Z', '90'], ['2026-02-10T00:00Z', '30']);
    const features = [feature(source('plan', { limit: '100', reset: 'NEVER' }))];
    const invoice = invoiceOf({ items, events, features }, { rowIndex: 1 });
    expect(billed(invoice)).toEqual([['30', '20.00', '10']]);
  });

  test('an annual allowance is used up across billing periods', () => {
    const events = calls(['2026-01-10T00:00Z', '1150'], ['2026-02-10T00:00Z', '100']);
    const features = [feature(source('plan', { limit: '1200', reset: 'ANNUAL' }))];
    const invoice = invoiceOf({ items, events, features }, { rowIndex: 1 });
    expect(billed(invoice)).toEqual([['100', '50.00', '50']]);
  });

  test('usage before the subscription uses nothing up', () => {
    const events = calls(['2025-12-31T23:59Z', '500'], ['2026-01-10T00:00Z', '30']);
    const features = [feature(source('plan', { limit: '20', reset: 'NEVER' }))];
    expect(billed(invoiceOf({ items, events, features }))).toEqual([['30', '10.00', '20']]);
  });

  test('a line that begins later finds what its meter has used before', () => {
    const start = Date.parse('2026-01-16T00:00Z');
    const later = [usageItem('old', { end: start }), usageItem('new', { start, createdAt: 1 })];
    const events = calls(['2026-01-10T00:00Z', '15'], ['2026-01-20T00:00Z', '15']);
    const features = [feature(source('plan', { limit: '20' }))];
    expect(billed(invoiceOf({ items: later, events, features }))).toEqual([
      ['15', '0.00', '15'],
      ['15', '10.00', '5'],
    ]);
  });

  test('lines that differ in filter_values share one allowance in line order', () => {
    const filtered = ['a', 'b'].map((value, index) =>
      usageItem(value, { createdAt: index, filterValues: [{ key: 'k', values: [value] }] }),
    );
    const events = calls(
      ['2026-01-02T00:00Z', '8', { k: 'b' }],
      ['2026-01-03T00:00Z', '7', { k: 'a' }],
    );
    const features = [feature(source('plan', { limit: '10' }))];
    expect(billed(invoiceOf({ items: filtered, events, features }))).toEqual([
      ['7', '0.00', '7'],
      ['8', '5.00', '3'],
    ]);
  });

  test('lines of the same events take once for each of them', () => {
    const start = Date.parse('2026-01-10T00:00Z');
    const two = [usageItem('plan'), usageItem('addon', { start, createdAt: 1 })];
    const events = calls(['2026-01-02T00:00Z', '5'], ['2026-01-20T00:00Z', '7']);
    const under = (limit: string, given = two) =>
      billed(invoiceOf({ items: given, events, features: [feature(source('plan', { limit }))] }));
    expect(under('12')).toEqual([
      ['12', '0.00', '12'],
      ['7', '0.00', '7'],
    ]);
    expect(under('8')).toEqual([
      ['12', '4.00', '8'],
      ['7', '4.00', '3'],
    ]);
    expect(under('8', [usageItem('plan'), usageItem('more', { createdAt: 1 })])).toEqual([
      ['12', '4.00', '8'],
      ['12', '4.00', '8'],
    ]);
  });

  test('a greatest value is not divided: it belongs where its bucket begins', () => {
    const weekly = (type: 'MAX' | 'SUM') =>
      new Map([['meter', { ...plainMeter, type, bucketSize: 'WEEK' as const }]]);
    // In the week from Monday, 5 January on.
    const events = calls(['2026-01-06T10:00Z', '15'], ['2026-01-07T10:00Z', '12']);
    const features = [feature(source('plan', { limit: '10', reset: 'DAILY' }))];
    const given = { items, events, features };
    expect(billed(invoiceOf({ ...given, meters: weekly('MAX') }))).toEqual([['15', '5.00', '10']]);
    expect(billed(invoiceOf({ ...given, meters: weekly('SUM') }))).toEqual([['27', '7.00', '20']]);
  });

  test('of a bucket that a period cuts, each part belongs to its own reset window', () => {
    const meters = new Map([
      ['meter', { ...plainMeter, type: 'MAX' as const, bucketSize: 'WEEK' as const }],
    ]);
    // Both in the week from Monday, 26 January on.
    const events = calls(['2026-01-30T00:00Z', '15'], ['2026-02-01T00:00Z', '14']);
    const features = [feature(source('plan', { limit: '10' }))];
    const given = { items, events, features, meters };
    expect(billed(invoiceOf(given))).toEqual([['15', '5.00', '10']]);
    expect(billed(invoiceOf(given, { rowIndex: 1 }))).toEqual([['14', '4.00', '10']]);
  });

  test('buckets use an allowance up in time order, groups in text order', () => {
    const meters = new Map([
      ['meter', { ...plainMeter, bucketSize: 'HOUR', groupBy: 'k' } as const],
    ]);
    const tiers = [
      { upTo: 4, unitAmount: '1', flatAmount: '0' },
      { upTo: null, unitAmount: '0.5', flatAmount: '0' },
    ];
    const price = { model: 'TIERED', mode: 'SLAB', tiers, unitRate: null } as const;
    const events = calls(
      ['2026-01-02T11:00Z', '6', { k: 'a' }],
      ['2026-01-02T10:00Z', '6', { k: 'b' }],
      ['2026-01-02T10:30Z', '3', { k: 'a' }],
    );
    const features = [feature(source('plan', { limit: '4' }))];
    const given = { items: [usageItem('line', { price })], meters, events, features };
    // Left: 0 of a at 10, 5 of b at 10, 6 of a at 11, each priced from the first tier.
    expect(billed(invoiceOf(given))).toEqual([['15', '9.50', '4']]);
  });

  test('a meter that is never reset is billed above its limit', () => {
    const meters = new Map([['meter', { ...plainMeter, reset: 'NEVER' } as const]]);
    const events = calls(['2025-06-01T00:00Z', '70'], ['2026-01-02T00:00Z', '50']);
    const features = [feature(source('plan', { limit: '100' }))];
    expect(billed(invoiceOf({ items, meters, events, features }))).toEqual([
      ['120', '20.00', '100'],
    ]);
  });

  test('an unlimited allowance bills nothing', () => {
    const events = calls(['2026-01-02T00:00Z', '50']);
    const features = [feature(source('plan', { limit: null }), source('other', { limit: '1' }))];
    expect(billed(invoiceOf({ items, events, features }))).toEqual([['50', '0.00', '50']]);
  });
});

describe('effective entitlements (10.1)', () => {
  const events = calls(['2026-01-02T00:00Z', '50']);
  const chargeUnder = (...sources: readonly EntitlementSource[]): string | undefined => {
    const given: Partial<Subscription> = { items, events, features: [feature(...sources)] };
    return invoiceOf(given).lines[0]?.amount;
  };
  const fromStart = { start: plainSubscription.start, end: null };

  test('limits of sources and of repeated addons add up', () => {
    const addon = source('addon', {
      scope: 'ADDON',
      limit: '10',
      associations: [fromStart, fromStart],
    });
    expect(chargeUnder(source('plan', { limit: '5' }), addon)).toBe('25.00');
  });

  test('one of the subscription replaces its parent', () => {
    const own = source('own', { scope: 'SUBSCRIPTION', parentId: 'plan', limit: '7' });
    expect(chargeUnder(source('plan', { limit: '5' }), own)).toBe('43.00');
    expect(chargeUnder(source('plan', { limit: '5' }), { ...own, isEnabled: false })).toBe('50.00');
  });

  test('disabled ones and those out of date are ignored', () => {
    const over = source('over', { limit: '5', end: Date.parse('2026-01-31T23:59:59.999Z') });
    const disabled = source('off', { limit: '5', isEnabled: false });
    expect(chargeUnder(over, disabled, source('plan', { limit: '1' }))).toBe('49.00');
    expect(chargeUnder(over, disabled)).toBe('50.00');
  });

  test('the reset period that most sources have counts for all', () => {
    const twoDays = calls(['2026-01-02T00:00Z', '50'], ['2026-01-03T00:00Z', '50']);
    const daily = source('daily', { limit: '5', reset: 'DAILY' });
    const sources = [source('never', { limit: '5', reset: 'NEVER' }), daily];
    const amountUnder = (more: EntitlementSource): string | undefined =>
      invoiceOf({ items, events: twoDays, features: [feature(...sources, more)] }).lines[0]?.amount;
    expect(amountUnder(source('more', { reset: 'DAILY' }))).toBe('80.00');
    expect(amountUnder(source('more', { reset: null, createdAt: 1 }))).toBe('80.00');
    expect(amountUnder(source('more', { reset: 'NEVER' }))).toBe('90.00');
  });
});
