import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalOf } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import type { Price } from '../price/price.js';
import type { LineItem } from './line-item.js';
import type { LineSelectionInputs } from './invoice.js';
import { selectLines } from './select-lines.js';
import {
  FIXED_PRICE,
  JANUARY,
  USAGE_PRICE,
  day,
  fixedLine,
  usageLine,
  subscriptionOf,
} from '../../testing/invoice-samples.js';

const date = (instant: number): string => formatInstant(instant).slice(0, 10);
/** `item start end` of every planned line. */
const planned = (change: Partial<LineSelectionInputs>): string[] =>
  selectLines({ ...JANUARY, ...change }).map(
    ({ lineItem, period }) => `${lineItem.id} ${date(period.startMs)} ${date(period.endMs)}`,
  );
/** Covered and full days of every planned line. */
const scaled = (change: Partial<LineSelectionInputs>): (string | null)[] =>
  selectLines({ ...JANUARY, ...change }).map(({ proration }) =>
    proration === null
      ? null
      : `${proration.coveredMs / 86_400_000}/${proration.fullMs / 86_400_000}`,
  );

const arrearFixed: Price = { ...FIXED_PRICE, invoiceCadence: 'ARREAR' };
const onetime: Price = { ...FIXED_PRICE, billingCadence: 'ONETIME', billingPeriod: 'ONETIME' };
const lines = (...items: LineItem[]): { lineItems: readonly LineItem[] } => ({ lineItems: items });

describe('reference point period_end (13.3)', () => {
  it('takes ARREAR lines of the ending period and ADVANCE lines of the next (34.15)', () => {
    const items = [usageLine('a'), fixedLine('b'), fixedLine('c', { price: arrearFixed })];
    expect(planned({ lineItems: items })).toEqual([
      'a 2026-01-01 2026-02-01',
      'b 2026-02-01 2026-03-01',
      'c 2026-01-01 2026-02-01',
    ]);
  });

  it('has no ADVANCE line where the subscription ends with the period', () => {
    const subscription = subscriptionOf({ endMs: day('2026-02-01') });
    expect(planned({ subscription, ...lines(usageLine('a'), fixedLine('b')) })).toEqual([
      'a 2026-01-01 2026-02-01',
    ]);
  });

  it('charges the period in which a line ends as far as its end has left it, and no other (24.5)', () => {
    const [endMs, chargedUntilMs] = [day('2026-02-11'), day('2026-03-01')];
    const subscription = subscriptionOf({ endMs });
    const ended = fixedLine('b', { endMs, chargedUntilMs });
    expect(planned({ subscription, ...lines(ended) })).toEqual(['b 2026-02-01 2026-03-01']);
    expect(scaled({ subscription, ...lines(ended) })).toEqual(['28/28']);
    const opening = { ...lines(ended), subscription, referencePoint: 'period_start' } as const;
    expect(planned(opening)).toEqual(['b 2026-01-01 2026-02-01']);
    // One that was added inside it is left to the last invoice, which charges it up to the end.
    const added = fixedLine('c', { startMs: day('2026-02-04'), endMs, chargedUntilMs });
    const begun = fixedLine('d', { startMs: endMs, endMs, chargedUntilMs });
    expect(planned({ subscription, ...lines(begun) })).toEqual(['d 2026-02-11 2026-03-01']);
    const last = { subscription, period: { startMs: day('2026-02-01'), endMs } };
    expect(planned({ ...last, ...lines(begun) })).toEqual([]);
    expect(planned({ ...last, ...lines(added) })).toEqual(['c 2026-02-04 2026-02-11']);
  });

  it('has no ADVANCE line where the interval ends inside a period', () => {
    const period = { startMs: day('2026-01-01'), endMs: day('2026-01-15') };
    expect(planned({ period, ...lines(usageLine('a'), fixedLine('b')) })).toEqual([
      'a 2026-01-01 2026-01-15',
    ]);
  });

  it('bills no usage of a trial (7.7)', () => {
    const subscription = subscriptionOf({ trialEndMs: day('2026-01-15') });
    const period = { startMs: day('2026-01-01'), endMs: day('2026-02-15') };
    expect(planned({ subscription, period, ...lines(usageLine('a')) })).toEqual([
      'a 2026-01-15 2026-02-15',
    ]);
    const trial = { ...period, endMs: day('2026-01-15') };
    expect(planned({ subscription, period: trial, ...lines(usageLine('a')) })).toEqual([]);
  });

  it('cuts a line to the time in which its item exists (7.7)', () => {
    const handOver = day('2026-01-16');
    const first = usageLine('a', { endMs: handOver });
    const second = usageLine('b', { startMs: handOver });
    expect(planned(lines(first, second))).toEqual([
      'a 2026-01-01 2026-01-16',
      'b 2026-01-16 2026-02-01',
    ]);
  });

  it('cuts a line to the time in which the subscription exists', () => {
    const subscription = subscriptionOf({ startMs: day('2026-01-05'), endMs: day('2026-01-20') });
    expect(planned({ subscription, ...lines(usageLine('a')) })).toEqual([
      'a 2026-01-05 2026-01-20',
    ]);
  });

  it('leaves out items that ended before the period or begin after it', () => {
    const ended = usageLine('a', { endMs: JANUARY.period.startMs });
    const later = usageLine('b', { startMs: JANUARY.period.endMs });
    expect(planned(lines(ended, later))).toEqual([]);
  });

  it('adds the whole period of an ADVANCE line that was added to it later, from its start', () => {
    const startMs = JANUARY.period.startMs;
    const late = fixedLine('b', { startMs, isLate: true });
    expect(planned(lines(late))).toEqual(['b 2026-01-01 2026-02-01', 'b 2026-02-01 2026-03-01']);
    expect(planned(lines({ ...late, isSettled: true }))).toEqual(['b 2026-02-01 2026-03-01']);
    const charge = { lineItemId: 'b', priceId: late.price.id, invoiceId: 'i' };
    const alreadyInvoiced = [{ ...charge, period: JANUARY.period }];
    expect(planned({ ...lines(late), alreadyInvoiced })).toEqual(['b 2026-02-01 2026-03-01']);
  });

  it('adds the partial period of an ADVANCE line that was added inside the period (27)', () => {
    const added = fixedLine('b', { startMs: day('2026-01-16') });
    expect(planned(lines(added))).toEqual(['b 2026-01-16 2026-02-01', 'b 2026-02-01 2026-03-01']);
    expect(scaled(lines(added))).toEqual(['16/31', '28/28']);
  });
});

describe('reference point period_start (13.3)', () => {
  it('takes ADVANCE lines of the period and no usage', () => {
    const items = lines(usageLine('a'), fixedLine('b'), fixedLine('c', { price: arrearFixed }));
    expect(planned({ referencePoint: 'period_start', ...items })).toEqual([
      'b 2026-01-01 2026-02-01',
    ]);
  });
});

describe('ONETIME lines (13.3)', () => {
  const item = (date_: string): LineItem => fixedLine('o', { price: onetime, startMs: day(date_) });

  it.each([
    ['period_start', '2026-01-20', 1],
    ['period_start', '2026-02-01', 0],
    ['period_end', '2026-02-28', 1],
    ['period_end', '2026-03-01', 0],
  ] as const)('%s, start %s: %i line', (referencePoint, start, count) => {
    expect(planned({ referencePoint, ...lines(item(start)) })).toHaveLength(count);
  });

  it('is on the last invoice when no ADVANCE period reaches its start', () => {
    const subscription = subscriptionOf({ endMs: day('2026-02-01') });
    expect(planned({ subscription, ...lines(item('2026-03-01')) })).toEqual([
      'o 2026-03-01 2026-03-01',
    ]);
  });

  it('is not scaled and is billed once in all', () => {
    const later = lines(item('2026-01-20'));
    expect(scaled(later)).toEqual([null]);
    const period = { startMs: day('2026-01-20'), endMs: day('2026-01-20') };
    const alreadyInvoiced = [
      { invoiceId: 'earlier', lineItemId: 'o', priceId: 'price_other', period },
    ];
    expect(planned({ alreadyInvoiced, ...later })).toEqual([]);
  });

  it('is not billed when it was ended before it began', () => {
    const ended = fixedLine('o', { price: onetime, endMs: JANUARY.period.startMs });
    expect(planned(lines(ended))).toEqual([]);
  });
});

describe('lines with a longer period than the subscription (13.3)', () => {
  const annual: Price = { ...FIXED_PRICE, billingPeriod: 'ANNUAL' };
  const quarterlyArrear: Price = { ...arrearFixed, billingPeriod: 'QUARTERLY' };
  const monthOf = (start: string, end: string): Partial<LineSelectionInputs> => ({
    period: { startMs: day(start), endMs: day(end) },
  });

  it('ADVANCE: on the invoice in whose period its own period starts', () => {
    const item = lines(fixedLine('b', { price: annual }));
    const opening = { referencePoint: 'period_start' } as const;
    expect(planned({ ...opening, ...item })).toEqual(['b 2026-01-01 2027-01-01']);
    expect(planned(item)).toEqual([]);
    expect(planned({ ...monthOf('2026-12-01', '2027-01-01'), ...item })).toEqual([
      'b 2027-01-01 2028-01-01',
    ]);
  });

  it('ARREAR: on the invoice in whose period its own period ends', () => {
    const item = lines(fixedLine('b', { price: quarterlyArrear }));
    expect(planned(item)).toEqual([]);
    expect(planned({ ...monthOf('2026-03-01', '2026-04-01'), ...item })).toEqual([
      'b 2026-01-01 2026-04-01',
    ]);
  });

  it('ARREAR: with the subscription when that ends earlier, for its part of the period', () => {
    const subscription = subscriptionOf({ endMs: day('2026-02-15') });
    const february = monthOf('2026-02-01', '2026-02-15');
    const item = lines(fixedLine('b', { price: quarterlyArrear }));
    expect(planned({ subscription, ...february, ...item })).toEqual(['b 2026-01-01 2026-02-15']);
    expect(scaled({ subscription, ...february, ...item })).toEqual(['45/90']);
  });

  it('usage of a longer period is read over the whole of it', () => {
    const price: Price = { ...USAGE_PRICE, billingPeriod: 'QUARTERLY' };
    const item = lines(usageLine('a', { price }));
    expect(planned({ ...monthOf('2026-03-01', '2026-04-01'), ...item })).toEqual([
      'a 2026-01-01 2026-04-01',
    ]);
  });

  it('counts MONTHLY × 3 as QUARTERLY', () => {
    const quarterly = subscriptionOf({ billingPeriod: 'QUARTERLY' });
    const price: Price = { ...FIXED_PRICE, billingPeriodCount: 3 };
    const item = lines(fixedLine('b', { price }));
    expect(planned({ subscription: quarterly, referencePoint: 'period_start', ...item })).toEqual([
      'b 2026-01-01 2026-04-01',
    ]);
  });

  it('begun late, with a billing period: from there on, in advance', () => {
    const quarterly: Price = {
      ...FIXED_PRICE,
      billingPeriod: 'QUARTERLY',
      amount: decimalOf('300'),
    };
    const item = lines(fixedLine('b', { price: quarterly, startMs: day('2026-02-01') }));
    expect(planned(item)).toEqual(['b 2026-02-01 2026-04-01']);
    expect(scaled(item)).toEqual(['59/90']);
    const alreadyInvoiced = [
      {
        invoiceId: 'earlier',
        lineItemId: 'b',
        priceId: FIXED_PRICE.id,
        period: { startMs: day('2026-02-01'), endMs: day('2026-04-01') },
      },
    ];
    const february = { ...monthOf('2026-02-01', '2026-03-01'), ...item };
    expect(planned({ ...february, alreadyInvoiced })).toEqual([]);
    // Nobody has billed it yet, as for an item that was added when January was closed.
    expect(planned(february)).toEqual(['b 2026-02-01 2026-04-01']);
    expect(planned({ ...monthOf('2026-03-01', '2026-04-01'), ...item })).toEqual([
      'b 2026-04-01 2026-07-01',
    ]);
  });

  it('added inside a period: from there to the end of its own period', () => {
    const item = lines(fixedLine('b', { price: annual, startMs: day('2026-01-16') }));
    expect(planned(item)).toEqual(['b 2026-01-16 2027-01-01']);
    expect(scaled(item)).toEqual(['350/365']);
  });
});

describe('partial periods (13.4)', () => {
  const calendar = subscriptionOf({
    billingCycle: 'calendar' as const,
    startMs: day('2026-08-15'),
    billingAnchorMs: day('2026-09-01'),
  });
  const opening = {
    referencePoint: 'period_start' as const,
    period: { startMs: day('2026-08-15'), endMs: day('2026-09-01') },
    ...lines(fixedLine('b', { startMs: day('2026-08-15') })),
  };

  it('a short first period is a full one without prorations', () => {
    expect(scaled({ subscription: calendar, ...opening })).toEqual(['17/17']);
  });

  it('a short first period is a part of the grid period with create_prorations', () => {
    const subscription = { ...calendar, prorationBehavior: 'create_prorations' as const };
    expect(scaled({ subscription, ...opening })).toEqual(['17/31']);
  });

  it('an end date scales the last period whatever the proration behavior', () => {
    const subscription = subscriptionOf({ endMs: day('2026-02-15') });
    expect(scaled({ subscription, ...lines(fixedLine('b')) })).toEqual(['14/28']);
  });

  it('usage is never scaled', () => {
    expect(scaled(lines(usageLine('a', { startMs: day('2026-01-16') })))).toEqual([null]);
  });
});

describe('already invoiced (13.5)', () => {
  const item = lines(fixedLine('b'));
  const invoiced = (start: string, end: string, priceId = FIXED_PRICE.id): string[] => {
    const period = { startMs: day(start), endMs: day(end) };
    return planned({
      alreadyInvoiced: [{ invoiceId: 'earlier', lineItemId: 'b', priceId, period }],
      ...item,
    });
  };

  it('skips a line whose period overlaps an earlier one of the same item and price', () => {
    expect(invoiced('2026-02-01', '2026-03-01')).toEqual([]);
    expect(invoiced('2026-02-28', '2026-03-28')).toEqual([]);
  });

  it('keeps it when the periods only touch, or the price is another', () => {
    expect(invoiced('2026-01-01', '2026-02-01')).toHaveLength(1);
    expect(invoiced('2026-02-01', '2026-03-01', 'price_before')).toHaveLength(1);
  });

  it('running the plan on its own result adds nothing', () => {
    const items = lines(usageLine('a'), fixedLine('b', { startMs: day('2026-01-10') }));
    const alreadyInvoiced = selectLines({ ...JANUARY, ...items }).map(({ lineItem, period }) => ({
      invoiceId: 'earlier',
      lineItemId: lineItem.id,
      priceId: lineItem.price.id,
      period,
    }));
    expect(alreadyInvoiced).toHaveLength(3);
    expect(planned({ alreadyInvoiced, ...items })).toEqual([]);
  });
});

describe('line order (1)', () => {
  it('is by creation, then by id, whatever the order given', () => {
    const items = [
      usageLine('b'),
      usageLine('a'),
      usageLine('B'),
      usageLine('0', { createdAtMs: day('2026-01-02') }),
    ];
    const permutations = fc.shuffledSubarray(items, { minLength: 4 });
    fc.assert(
      fc.property(permutations, (shuffled) => {
        const ids = selectLines({ ...JANUARY, lineItems: shuffled }).map(
          (line) => line.lineItem.id,
        );
        expect(ids).toEqual(['B', 'a', 'b', '0']);
      }),
    );
  });
});
