import { describe, expect, test } from 'vitest';
import type { PricedInvoice } from './invoice.js';
import type { EarlierInvoice } from './invoice-question.js';
import {
  calls,
  committed,
  flat,
  invoiceOf,
  lineCommitment,
  plainMeter,
  usageItem,
} from './plain-subscription.js';
import type { Feature, UsageItem } from './subscription.js';

const handover = Date.parse('2026-01-16T00:00Z');

/** Amount, utilized, overage, true-up. */
function figuresOf({ lines }: PricedInvoice, itemId: string): readonly (string | undefined)[] {
  const line = lines.find((each) => each.itemId === itemId);
  const { utilized, overage, trueUp } = line?.commitment ?? {};
  return [line?.amount, utilized, overage, trueUp];
}

/** Lines stand in the order of their ids: the successor before the item that it continues. */
function lineage(
  first: Partial<UsageItem>,
  second: Partial<UsageItem>,
): readonly [UsageItem, UsageItem] {
  return [
    usageItem('z first', { end: handover, ...first }),
    usageItem('a second', { start: handover, predecessorIds: ['z first'], ...second }),
  ];
}

function amount(value: string, hasTrueUp = true) {
  return { commitment: lineCommitment(committed({ value, factor: '2', hasTrueUp })) };
}

const usage = (first: string, second: string) =>
  calls(['2026-01-10T00:00Z', first], ['2026-01-16T00:00Z', second]);

describe('the commitment of a lineage (11.3)', () => {
  test('500 that became 800 on 16 January takes 300 and 200, and 300 more as true-up', () => {
    const invoice = invoiceOf({
      items: lineage(amount('500'), amount('800')),
      events: usage('300', '200'),
    });
    expect(figuresOf(invoice, 'z first')).toEqual(['300.00', '300.00', '0.00', '0.00']);
    expect(figuresOf(invoice, 'a second')).toEqual(['500.00', '200.00', '0.00', '300.00']);
  });

  test('what the first item shows as utilized is gone, to the smallest unit', () => {
    const invoice = invoiceOf({
      items: lineage(amount('500'), { ...amount('500'), price: flat('0.1') }),
      events: usage('499.995', '1'),
    });
    // 500.00 are utilized, so that all of the rest is overage.
    expect(figuresOf(invoice, 'z first')).toEqual(['500.00', '500.00', '0.00', '0.00']);
    expect(figuresOf(invoice, 'a second')).toEqual(['0.20', '0.00', '0.20', '0.00']);
  });

  test('it does not matter on how many invoices the items stand', () => {
    const duration = 'QUARTERLY';
    const own = (value: string) => committed({ value, factor: '2', hasTrueUp: true });
    const items = lineage(
      { commitment: lineCommitment(own('500'), { duration }) },
      { commitment: lineCommitment(own('800'), { duration }) },
    );
    const events = [...usage('300', '200'), ...calls(['2026-03-05T00:00Z', '400'])];
    const distinct = events.map((event, index) => ({ ...event, eventId: `${index}` }));
    const january = invoiceOf({ items, events: distinct });
    const earlier: readonly EarlierInvoice[] = [
      {
        period: { start: Date.parse('2026-01-01T00:00Z'), end: Date.parse('2026-02-01T00:00Z') },
        lines: january.lines.map(({ itemId, commitment }) => ({
          itemId,
          start: 0,
          end: 0,
          inCommitment: '0',
          utilized: commitment?.utilized ?? '0',
        })),
        appliedCouponIds: [],
      },
    ];
    const march = invoiceOf({ items, events: distinct }, { rowIndex: 2, earlier });
    expect(figuresOf(january, 'a second')).toEqual(['200.00', '200.00', '0.00', '0.00']);
    // 300 are left of 800; 100 are twice the price.
    expect(figuresOf(march, 'a second')).toEqual(['500.00', '300.00', '200.00', '0.00']);
  });

  test('an item that nothing with a commitment continues is trued up itself', () => {
    const items = lineage(amount('500'), {});
    const invoice = invoiceOf({ items, events: usage('300', '200') });
    expect(figuresOf(invoice, 'z first')).toEqual(['500.00', '300.00', '0.00', '200.00']);
    expect(figuresOf(invoice, 'a second')[0]).toBe('200.00');
  });

  test('a successor that begins in the next period does not hold back the true-up', () => {
    const start = Date.parse('2026-02-01T00:00Z');
    const items = lineage({ ...amount('500'), end: start }, { ...amount('800'), start });
    const invoice = invoiceOf({ items, events: usage('300', '0') });
    expect(figuresOf(invoice, 'z first')).toEqual(['500.00', '300.00', '0.00', '200.00']);
  });

  test('commitments of buckets share nothing', () => {
    const windowed = (value: string) => ({
      commitment: lineCommitment(committed({ value, hasTrueUp: true }), { isWindowed: true }),
    });
    const meters = new Map([['meter', { ...plainMeter, bucketSize: 'WEEK' as const }]]);
    const invoice = invoiceOf({ items: lineage(windowed('70'), windowed('70')), meters });
    // 15 and 16 days of weeks with 70 each.
    expect(figuresOf(invoice, 'z first')[0]).toBe('150.00');
    expect(figuresOf(invoice, 'a second')[0]).toBe('160.00');
  });
});

describe('the allowance of a lineage (10.2)', () => {
  const features: readonly Feature[] = [
    {
      id: 'feature',
      meterId: 'meter',
      sources: [
        {
          id: 'source',
          createdAt: 0,
          scope: 'PLAN',
          parentId: null,
          isEnabled: true,
          limit: '100',
          reset: null,
          start: null,
          end: null,
          associations: [],
        },
      ],
    },
  ];

  test('a successor does not renew it', () => {
    const given = { items: lineage({}, {}), features, events: usage('90', '30') };
    const invoice = invoiceOf(given);
    expect(figuresOf(invoice, 'z first')[0]).toBe('0.00');
    expect(figuresOf(invoice, 'a second')[0]).toBe('20.00');
  });

  test('what an item with other filters used of it is gone as well, and counted once', () => {
    const events = calls(
      ['2026-01-02T00:00Z', '50', { k: 'a' }],
      ['2026-01-03T00:00Z', '20', { k: 'b' }],
      ['2026-01-04T00:00Z', '10', { k: 'c' }],
      ['2026-01-20T00:00Z', '60', { k: 'b' }],
    );
    const filter = (...values: readonly string[]) => ({ filterValues: [{ key: 'k', values }] });
    const items = lineage(filter('a', 'b'), filter('b'));
    const invoice = invoiceOf({ items, features, events });
    expect(figuresOf(invoice, 'z first')[0]).toBe('0.00');
    // 30 are left of 100.
    expect(figuresOf(invoice, 'a second')[0]).toBe('30.00');
  });
});
