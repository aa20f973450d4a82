import { describe, expect, test } from 'vitest';
import type { PricedInvoice } from './invoice.js';
import { calls, invoiceOf, usageItem } from './plain-subscription.js';
import type { Feature } from './subscription.js';

function feature(limit: string, reset: 'DAILY' | 'NEVER' | 'ANNUAL' | null): Feature {
  const source = {
    id: 'plan',
    createdAt: 0,
    scope: 'PLAN',
    parentId: null,
    isEnabled: true,
    limit,
    reset,
    start: null,
    end: null,
    associations: [],
  } as const;
  return { id: 'feature', meterId: 'meter', sources: [source] };
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
    const features = [feature('10', 'DAILY')];
    expect(billed(invoiceOf({ items, events, features }))).toEqual([['35', '7.00', '28']]);
  });

  test('a lifetime allowance is used up by the periods before', () => {
    const events = calls(['2026-01-10T00:00Z', '90'], ['2026-02-10T00:00Z', '30']);
    const features = [feature('100', 'NEVER')];
    const invoice = invoiceOf({ items, events, features }, { rowIndex: 1 });
    expect(billed(invoice)).toEqual([['30', '20.00', '10']]);
  });

  test('an annual allowance is used up across billing periods', () => {
    const events = calls(['2026-01-10T00:00Z', '1150'], ['2026-02-10T00:00Z', '100']);
    const features = [feature('1200', 'ANNUAL')];
    const invoice = invoiceOf({ items, events, features }, { rowIndex: 1 });
    expect(billed(invoice)).toEqual([['100', '50.00', '50']]);
  });

  test('lines of the same events take once for each of them', () => {
    const start = Date.parse('2026-01-10T00:00Z');
    const two = [usageItem('plan'), usageItem('addon', { start, createdAt: 1 })];
    const events = calls(['2026-01-02T00:00Z', '5'], ['2026-01-20T00:00Z', '7']);
    const under = (limit: string, given = two) =>
      billed(invoiceOf({ items: given, events, features: [feature(limit, null)] }));
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
});
