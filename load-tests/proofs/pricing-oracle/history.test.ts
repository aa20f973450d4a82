import { describe, expect, test } from 'vitest';
import type { PricedInvoice } from './invoice.js';
import {
  calls,
  committed,
  fixedItem,
  flat,
  happened,
  invoiceOf,
  lineCommitment,
  plainMeter,
  usageItem,
} from './plain-subscription.js';
import type { EntitlementSource, Feature, Subscription } from './subscription.js';

const quarter = { period: 'QUARTERLY', count: 1 } as const;
const tenDays = happened.pause('2026-01-05T00:00Z', '2026-01-15T00:00Z');
const afterTenDays = [tenDays, happened.renewal('2026-02-11T00:00Z')];

function allowance(limit: string, reset: EntitlementSource['reset']): readonly Feature[] {
  const source = {
    id: 'source',
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
  return [{ id: 'feature', meterId: 'meter', sources: [source] }];
}

/** Item, first day, day after the last, amount. */
function shown({ lines }: PricedInvoice): readonly string[] {
  return lines.map(({ itemId, periodStart, periodEnd, amount }) =>
    [itemId, periodStart.slice(0, 10), periodEnd.slice(0, 10), amount].join(' '),
  );
}

function billedQuantities({ lines }: PricedInvoice): readonly string[] {
  return lines.map(({ amount }) => amount);
}

describe('longer lines (13.3, 13.4)', () => {
  const start = Date.parse('2026-02-01T00:00Z');
  const late = { price: flat('300'), length: quarter, start } as const;

  test('a quarter in advance that begins late is on the invoice of the period before', () => {
    const items = [fixedItem('late', { ...late, cadence: 'ADVANCE' })];
    expect(shown(invoiceOf({ items }))).toEqual(['late 2026-02-01 2026-04-01 196.67']);
    expect(shown(invoiceOf({ items }, { reference: 'period_start' }))).toEqual([]);
    const april = ['late 2026-04-01 2026-07-01 300.00'];
    expect(shown(invoiceOf({ items }, { rowIndex: 2 }))).toEqual(april);
  });

  test('one that was added while the invoice before was made is on the next', () => {
    const items = [fixedItem('late', { ...late, cadence: 'ADVANCE' })];
    const invoice = invoiceOf({ items }, { rowIndex: 1 });
    expect(shown(invoice)).toEqual(['late 2026-02-01 2026-04-01 196.67']);
  });

  test('a quarter in arrear is billed when it ends, from where the item exists', () => {
    const items = [fixedItem('late', late)];
    expect(shown(invoiceOf({ items }, { rowIndex: 1 }))).toEqual([]);
    const march = ['late 2026-02-01 2026-04-01 196.67'];
    expect(shown(invoiceOf({ items }, { rowIndex: 2 }))).toEqual(march);
  });

  test('a pause makes a quarter longer, and the moved anchor does not begin it anew', () => {
    const items = [fixedItem('quarter', { price: flat('300'), length: quarter })];
    const history = [
      ...afterTenDays,
      happened.renewal('2026-03-11T00:00Z'),
      happened.renewal('2026-04-11T00:00Z'),
    ];
    const second = invoiceOf({ items, history }, { rowIndex: 1 });
    expect(shown(second)).toEqual([]);
    // 100 days less 10, of 90: from the anchor of its first row.
    const third = invoiceOf({ items, history }, { rowIndex: 2 });
    expect(shown(third)).toEqual(['quarter 2026-01-01 2026-04-11 300.00']);
  });
});

describe('pauses (12.10, 13.4)', () => {
  test('a period that was paused for ten days is charged in full and ends ten days later', () => {
    const items = [fixedItem('behind'), fixedItem('ahead', { cadence: 'ADVANCE' })];
    expect(shown(invoiceOf({ items, history: afterTenDays }))).toEqual([
      'ahead 2026-02-11 2026-03-11 100.00',
      'behind 2026-01-01 2026-02-11 100.00',
    ]);
  });

  test('on a calendar cycle the short period that follows is scaled', () => {
    const items = [fixedItem('behind', { start: Date.parse('2025-12-20T00:00Z') })];
    const given = { start: Date.parse('2025-12-20T00:00Z'), cycle: 'calendar', items } as const;
    const history = [happened.renewal('2026-01-01T00:00Z'), ...afterTenDays];
    const amountOf = (rowIndex: number) => shown(invoiceOf({ ...given, history }, { rowIndex }));
    expect(amountOf(1)).toEqual(['behind 2026-01-01 2026-02-11 100.00']);
    expect(amountOf(2)).toEqual(['behind 2026-02-11 2026-03-01 64.29']);
  });

  test('a pause does not count, and an item that ends in it ends with its beginning', () => {
    const ended = fixedItem('ended', { end: Date.parse('2026-01-10T00:00Z') });
    const added = fixedItem('added', { start: Date.parse('2026-01-10T00:00Z') });
    // 4 of 31 days, and 41 less 9 less 5.
    expect(shown(invoiceOf({ items: [ended, added], history: afterTenDays }))).toEqual([
      'added 2026-01-10 2026-02-11 87.10',
      'ended 2026-01-01 2026-01-10 12.90',
    ]);
  });

  test('usage of a pause is billed with its period', () => {
    const events = calls(['2026-01-10T00:00Z', '3'], ['2026-02-10T00:00Z', '4']);
    const invoice = invoiceOf({ items: [usageItem('usage')], events, history: afterTenDays });
    expect(shown(invoice)).toEqual(['usage 2026-01-01 2026-02-11 7.00']);
  });

  test('a pause renews neither a yearly allowance nor one of the billing period', () => {
    const events = calls(['2026-01-10T00:00Z', '90'], ['2026-02-20T00:00Z', '30']);
    const given = { items: [usageItem('usage')], events, history: afterTenDays };
    const billed = (reset: EntitlementSource['reset'], rowIndex: number) =>
      billedQuantities(invoiceOf({ ...given, features: allowance('80', reset) }, { rowIndex }));
    expect([billed('ANNUAL', 0), billed('ANNUAL', 1)]).toEqual([['10.00'], ['30.00']]);
    expect([billed('MONTHLY', 0), billed(null, 1)]).toEqual([['10.00'], ['0.00']]);
  });

  test('months of buckets begin on the day of the anchor that moved', () => {
    const meters = new Map([
      ['meter', { ...plainMeter, type: 'MAX' as const, bucketSize: 'MONTH' as const }],
    ]);
    const events = calls(['2026-02-20T00:00Z', '5'], ['2026-03-10T23:59Z', '7']);
    const given = { items: [usageItem('usage')], meters, events, history: afterTenDays };
    expect(billedQuantities(invoiceOf(given, { rowIndex: 1 }))).toEqual(['7.00']);
    const calendar = { ...given, cycle: 'calendar' } as const;
    const [february, march] = [1, 2].map((rowIndex) => invoiceOf(calendar, { rowIndex }));
    expect([february?.totals.total, march?.totals.total]).toEqual(['5.00', '7.00']);
  });

  test('weeks count from the anchor, and begin anew where it moves', () => {
    // From 1 January: 29 January – 5 February, 5 – 11 February; from 11 February on: a week.
    const events = calls(
      ['2026-02-04T00:00Z', '7'],
      ['2026-02-10T00:00Z', '7'],
      ['2026-02-12T00:00Z', '7'],
      ['2026-02-17T00:00Z', '7'],
    );
    const features = allowance('5', 'WEEKLY');
    const given = { items: [usageItem('usage')], events, features, history: afterTenDays };
    const [january, february] = [0, 1].map((rowIndex) => invoiceOf(given, { rowIndex }));
    expect([january, february].map((each) => each?.totals.total)).toEqual(['4.00', '9.00']);
  });
});

describe('threshold invoices (12.10, 13.3)', () => {
  const history = [happened.threshold('2026-01-11T00:00Z')];
  const events = calls(['2026-01-05T00:00Z', '80'], ['2026-01-20T00:00Z', '50']);
  const given: Partial<Subscription> = {
    items: [usageItem('usage'), fixedItem('fixed')],
    events,
    features: allowance('100', null),
    history,
  };

  test('segments bill their own usage and share one allowance', () => {
    const closed = invoiceOf(given, { reference: 'threshold' });
    expect(shown(closed)).toEqual(['usage 2026-01-01 2026-01-11 0.00']);
    const rest = invoiceOf(given, { rowIndex: 1 });
    expect(shown(rest)).toEqual([
      'fixed 2026-01-01 2026-02-01 100.00',
      'usage 2026-01-01 2026-02-01 30.00',
    ]);
    expect(rest.periodStart).toBe('2026-01-11T00:00:00.000Z');
  });

  test('an item that was added in a segment waits for the cycle invoice', () => {
    const start = Date.parse('2026-01-06T00:00Z');
    const items = [fixedItem('added', { start, cadence: 'ADVANCE' })];
    expect(shown(invoiceOf({ ...given, items }, { reference: 'threshold' }))).toEqual([]);
    expect(shown(invoiceOf({ ...given, items }, { rowIndex: 1 }))[0]).toBe(
      'added 2026-01-06 2026-02-01 83.87',
    );
  });
});

describe('trials (7.7, 12.10, 13.3)', () => {
  const trialEnd = Date.parse('2026-01-21T00:00Z');
  const items = [
    usageItem('usage'),
    fixedItem('behind'),
    fixedItem('ahead', { cadence: 'ADVANCE' }),
  ];
  const events = calls(['2026-01-10T00:00Z', '70'], ['2026-01-25T00:00Z', '50']);
  const given: Partial<Subscription> = {
    trialEnd,
    items,
    events,
    cycle: 'calendar',
    proration: 'create_prorations',
    history: [happened.trialEnd('2026-01-21T00:00Z')],
  };

  test('the start of a trial has no line, a look at it the charges that follow', () => {
    const begun = { ...given, history: [] };
    expect(shown(invoiceOf(begun, { reference: 'trial_start' }))).toEqual([]);
    const now = Date.parse('2026-01-12T00:00Z');
    const preview = invoiceOf(begun, { reference: 'preview', now });
    expect(shown(preview)).toEqual(['ahead 2026-01-21 2026-02-01 35.48']);
  });

  test('the end of a trial bills what is in advance, from its own anchor on', () => {
    const opening = { reference: 'period_start', rowIndex: 1 } as const;
    expect(shown(invoiceOf(given, opening))).toEqual(['ahead 2026-01-21 2026-02-01 35.48']);
    const anniversary = invoiceOf({ ...given, cycle: 'anniversary' }, opening);
    expect(shown(anniversary)).toEqual(['ahead 2026-01-21 2026-02-21 100.00']);
    const whole = invoiceOf({ ...given, proration: 'none' }, opening);
    expect(shown(whole)).toEqual(['ahead 2026-01-21 2026-02-01 100.00']);
  });

  test('usage of the trial is neither billed nor taken from an allowance', () => {
    const features = allowance('60', 'NEVER');
    const first = invoiceOf({ ...given, features }, { rowIndex: 1 });
    expect(shown(first)).toEqual([
      'ahead 2026-02-01 2026-03-01 100.00',
      'behind 2026-01-21 2026-02-01 35.48',
      'usage 2026-01-21 2026-02-01 0.00',
    ]);
  });

  test('as history of a meter that is never reset it counts', () => {
    const meters = new Map([['meter', { ...plainMeter, reset: 'NEVER' as const }]]);
    const first = invoiceOf({ ...given, meters, items: [usageItem('usage')] }, { rowIndex: 1 });
    expect(shown(first)).toEqual(['usage 2026-01-21 2026-02-01 120.00']);
  });

  test('a trial that is the end of the subscription bills nothing', () => {
    const history = [happened.cancel('2026-01-09T00:00Z')];
    expect(shown(invoiceOf({ ...given, history }))).toEqual([]);
  });

  test('commitment windows count from the end of the trial', () => {
    const commitment = {
      amount: '500',
      factor: '2',
      hasTrueUp: true,
      duration: 'QUARTERLY',
    } as const;
    const totalOf = (rowIndex: number): string =>
      invoiceOf({ ...given, items: [], commitment }, { rowIndex }).totals.total;
    // Rows from 21 January, 1 February, 1 March, 1 April; the window ends on 21 April.
    expect([0, 1, 2, 3, 4].map(totalOf)).toEqual(['0.00', '0.00', '0.00', '0.00', '500.00']);
  });
});

describe('cancellations (12.10, 13.3)', () => {
  const history = [happened.cancel('2026-01-16T00:00Z')];

  test('the last row is billed up to the effective instant, and nothing follows it', () => {
    const items = [
      fixedItem('ahead', { cadence: 'ADVANCE' }),
      fixedItem('behind'),
      usageItem('usage'),
    ];
    const events = calls(['2026-01-15T23:59Z', '5'], ['2026-01-16T00:00Z', '7']);
    expect(shown(invoiceOf({ items, events, history }))).toEqual([
      'behind 2026-01-01 2026-01-16 48.39',
      'usage 2026-01-01 2026-01-16 5.00',
    ]);
  });

  test('the commitment of the running window is trued up in full', () => {
    const duration = 'ANNUAL';
    const own = committed({ value: '500', hasTrueUp: true });
    const items = [usageItem('usage', { commitment: lineCommitment(own, { duration }) })];
    expect(shown(invoiceOf({ items }))).toEqual(['usage 2026-01-01 2026-02-01 0.00']);
    expect(shown(invoiceOf({ items, history }))).toEqual(['usage 2026-01-01 2026-01-16 500.00']);
  });
});
