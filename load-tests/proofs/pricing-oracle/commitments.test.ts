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
import type { Commitment, LineCommitment, SubscriptionCommitment } from './subscription.js';

function lines(invoice: PricedInvoice): readonly (readonly [string, string, string])[] {
  return invoice.lines.map(({ kind, quantity, amount }) => [kind, quantity, amount]);
}

function ofSubscription(
  amount: string,
  factor: string,
  changes: Partial<SubscriptionCommitment> = {},
): SubscriptionCommitment {
  return { amount, factor, hasTrueUp: false, duration: null, ...changes };
}

function used(n: string) {
  return calls(['2026-01-10T00:00Z', n]);
}

describe('commitments of the subscription (11.1)', () => {
  test('the charge that crosses the commitment is split by money', () => {
    const given = { commitment: ofSubscription('100', '1.5'), events: used('500') };
    const items = [usageItem('line', { price: flat('0.30') })];
    expect(lines(invoiceOf({ ...given, items }))).toEqual([
      ['charge', '333.333333333333', '100.00'],
      ['overage', '166.666666666667', '75.00'],
    ]);
  });

  test('a true-up fills the commitment', () => {
    const commitment = ofSubscription('100', '1.5', { hasTrueUp: true });
    const given = { commitment, items: [usageItem('line')] };
    expect(lines(invoiceOf({ ...given, events: used('60') }))).toEqual([
      ['charge', '60', '60.00'],
      ['true-up', '1', '40.00'],
    ]);
    expect(lines(invoiceOf({ ...given, events: used('100') }))).toEqual([
      ['charge', '100', '100.00'],
    ]);
  });

  test('parts in the commitment add up to it, and overage is rounded as one', () => {
    const price = flat('1');
    const items = [
      usageItem('a', { price, filterValues: [{ key: 'k', values: ['a'] }] }),
      usageItem('b', { price, createdAt: 1, filterValues: [{ key: 'k', values: ['b'] }] }),
    ];
    const events = calls(
      ['2026-01-10T00:00Z', '3.335', { k: 'a' }],
      ['2026-01-10T00:00Z', '8.005', { k: 'b' }],
    );
    const invoice = invoiceOf({ items, events, commitment: ofSubscription('10', '2') });
    expect(invoice.lines.map(({ amount }) => amount)).toEqual(['3.34', '6.66', '2.68']);
    expect(invoice.totals.total).toBe('12.68');
  });

  test('a factor of exactly 1 switches it off, but not its true-up', () => {
    const given = { items: [usageItem('line')], events: used('60') };
    const without = invoiceOf({ ...given, commitment: ofSubscription('100', '1') });
    expect(lines(without)).toEqual([['charge', '60', '60.00']]);
    const commitment = ofSubscription('100', '1', { hasTrueUp: true });
    const invoice = invoiceOf({ ...given, commitment });
    expect(lines(invoice).map(([, , amount]) => amount)).toEqual(['60.00', '40.00']);
  });
});

describe('commitments over several periods (11.2)', () => {
  const items = [usageItem('line')];
  function earlierOf(month: number, inCommitment: string): EarlierInvoice {
    const period = { start: Date.UTC(2026, month), end: Date.UTC(2026, month + 1) };
    const line = { itemId: 'line', ...period, inCommitment, utilized: '0' };
    return { period, lines: [line], appliedCouponIds: [] };
  }
  const annual = ofSubscription('1200', '1.2', { duration: 'ANNUAL', hasTrueUp: true });

  test('what earlier invoices of the window used is gone', () => {
    const events = calls(['2026-03-10T00:00Z', '100']);
    const question = { rowIndex: 2, earlier: [earlierOf(0, '1000'), earlierOf(1, '150')] };
    expect(lines(invoiceOf({ items, events, commitment: annual }, question))).toEqual([
      ['charge', '50', '50.00'],
      ['overage', '50', '60.00'],
    ]);
  });

  test('the second year starts at nothing', () => {
    const events = calls(['2027-01-10T00:00Z', '100']);
    const question = { rowIndex: 12, earlier: [earlierOf(11, '1200')] };
    expect(lines(invoiceOf({ items, events, commitment: annual }, question))).toEqual([
      ['charge', '100', '100.00'],
    ]);
  });

  test('only the last period of the window has a true-up', () => {
    const given = { items, events: used('60'), commitment: annual };
    expect(lines(invoiceOf(given))).toEqual([['charge', '60', '60.00']]);
    const question = { rowIndex: 11, earlier: [earlierOf(0, '60')] };
    expect(lines(invoiceOf(given, question))).toEqual([
      ['charge', '0', '0.00'],
      ['true-up', '1', '1140.00'],
    ]);
  });
});

function split(
  commitment: LineCommitment,
  n: string,
  price = flat('1'),
): readonly (string | undefined)[] {
  const items = [usageItem('line', { price, commitment })];
  const [line] = invoiceOf({ items, events: used(n) }).lines;
  const info = line?.commitment;
  return [line?.amount, info?.utilized, info?.overage, info?.trueUp];
}

describe('commitments of a line (11.3)', () => {
  const amount = (changes: Partial<Commitment>): LineCommitment =>
    lineCommitment(committed({ value: '500', factor: '1.2', ...changes }));

  test.each([
    ['650', false, ['680.00', '500.00', '180.00', '0.00']],
    ['300', true, ['500.00', '300.00', '0.00', '200.00']],
    ['300', false, ['300.00', '300.00', '0.00', '0.00']],
    ['500', true, ['500.00', '500.00', '0.00', '0.00']],
  ])('500 at 1.2 over a usage of %s, true-up %s', (n, hasTrueUp, expected) => {
    expect(split(amount({ hasTrueUp }), n)).toEqual(expected);
  });

  test('500 that became 800 on 16 January takes 300 and 200, and 300 more as true-up', () => {
    const handover = Date.parse('2026-01-16T00:00Z');
    const items = [
      usageItem('first', { end: handover, commitment: amount({ hasTrueUp: true }) }),
      usageItem('second', {
        start: handover,
        createdAt: 1,
        predecessorIds: ['first'],
        commitment: amount({ value: '800', hasTrueUp: true }),
      }),
    ];
    const events = calls(['2026-01-10T00:00Z', '300'], ['2026-01-16T00:00Z', '200']);
    const amounts = invoiceOf({ items, events }).lines.map((line) => [
      line.amount,
      line.commitment?.utilized,
      line.commitment?.trueUp,
    ]);
    expect(amounts).toEqual([
      ['300.00', '300.00', '0.00'],
      ['500.00', '200.00', '300.00'],
    ]);
  });

  test('a quantity is committed at the price of the line', () => {
    const quantity = committed({ type: 'quantity', value: '10000', factor: '1.5' });
    expect(split(lineCommitment(quantity), '15000', flat('0.02'))).toEqual([
      '350.00',
      '200.00',
      '150.00',
      '0.00',
    ]);
  });
});

const hourlySum = new Map([['meter', { ...plainMeter, bucketSize: 'HOUR' } as const]]);
const hourlyMax = new Map([['meter', { ...plainMeter, type: 'MAX', bucketSize: 'HOUR' } as const]]);
const daily = { period: 'DAILY', count: 1 } as const;

function figures(invoice: PricedInvoice): readonly (string | undefined)[] {
  const [line] = invoice.lines;
  const info = line?.commitment;
  return [line?.amount, info?.utilized, info?.overage, info?.trueUp];
}

describe('windowed commitments (11.4)', () => {
  const commitment = lineCommitment(committed({ value: '10', factor: '2', hasTrueUp: true }), {
    isWindowed: true,
  });
  const items = [usageItem('line', { length: daily, commitment })];
  const fourHours = {
    items,
    length: daily,
    meters: hourlySum,
    end: Date.parse('2026-01-01T04:00Z'),
  };

  test('every hour is settled by itself', () => {
    const events = calls(
      ['2026-01-01T00:10Z', '6'],
      ['2026-01-01T01:10Z', '15'],
      ['2026-01-01T03:10Z', '10'],
    );
    const invoice = invoiceOf({ ...fourHours, events });
    expect(figures(invoice)).toEqual(['50.00', '26.00', '10.00', '14.00']);
  });

  test('a bucket that is cut has a scaled commitment', () => {
    const start = Date.parse('2026-01-01T02:30Z');
    const halved = [usageItem('line', { length: daily, commitment, start })];
    expect(figures(invoiceOf({ ...fourHours, items: halved }))).toEqual([
      '15.00',
      '0.00',
      '0.00',
      '15.00',
    ]);
  });
});

describe('time buckets (11.5)', () => {
  const bucket = (start: number, end: number, hasTrueUp: boolean) => ({
    id: 'bucket',
    start: start * 60,
    end: end * 60,
    price: flat('0.80'),
    commitment: committed({ value: '4', factor: '1.5', hasTrueUp }),
  });
  const dayOf = (day: string, zone: string) => ({ start: Date.parse(day), zone, length: daily });

  test.each([
    [true, ['41.00', '9.40', '6.00', '25.60']],
    [false, ['15.40', '9.40', '6.00', '0.00']],
  ])('an ordinary day with true-up %s', (hasTrueUp, expected) => {
    const events = calls(
      ['2026-01-01T10:10Z', '3'],
      ['2026-01-01T11:10Z', '10'],
      ['2026-01-01T20:10Z', '3'],
    );
    const commitment = lineCommitment(null, {
      isWindowed: true,
      timeBuckets: [bucket(9, 17, hasTrueUp)],
    });
    const items = [usageItem('line', { length: daily, commitment })];
    const invoice = invoiceOf({ items, events, meters: hourlyMax, length: daily });
    expect(figures(invoice)).toEqual(expected);
  });

  test.each([
    ['2026-03-28T23:00Z', '20.00'],
    ['2026-10-24T22:00Z', '28.00'],
    ['2026-06-14T22:00Z', '24.00'],
  ])('the nights of Berlin, that of %s', (start, amount) => {
    const timeBuckets = [bucket(0, 6, true)];
    const commitment = lineCommitment(null, { isWindowed: true, timeBuckets });
    const items = [usageItem('line', { length: daily, commitment, start: Date.parse(start) })];
    const given = { ...dayOf(start, 'Europe/Berlin'), items, meters: hourlyMax };
    expect(figures(invoiceOf(given))[0]).toBe(amount);
  });
});
