import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal, ZERO, decimalOf, plain } from '../../../contract/number/decimal.js';
import { DAY_MS, type Interval } from '../../../contract/instant.js';
import type { BucketUsage, IntervalUsage } from '../usage/line-usage.js';
import { day, usageOf } from '../../testing/invoice-samples.js';
import { applyAllowances, type UsedLine } from './apply-allowance.js';
import type { LineAllowance } from './line-allowance.js';

const JANUARY: Interval = { startMs: day('2026-01-01'), endMs: day('2026-02-01') };
const daysOf = (first: string, count: number): Interval => ({
  startMs: day(first),
  endMs: day(first) + count * DAY_MS,
});

/** One reset window, with what the meter counted before the usage window and up to its end. */
type Reset = {
  readonly window: Interval;
  readonly used?: readonly [Interval, string];
  readonly until: readonly [Interval, string];
};

function allowance(limit: string | null, resets: readonly Reset[]): LineAllowance {
  return {
    limit: limit === null ? null : decimalOf(limit),
    resetPeriod: null,
    windows: resets.map(({ window, used, until }) => ({
      window,
      before: used?.[0] ?? null,
      until: until[0],
    })),
  };
}

const valuesOf = (resets: readonly Reset[]): IntervalUsage[] =>
  resets
    .flatMap(({ used, until }) => (used === undefined ? [until] : [used, until]))
    .map(([interval, usage]) => ({ interval, usage: decimalOf(usage) }));

function line(limit: string | null, usage: string, resets: readonly Reset[]): UsedLine {
  return {
    meterId: 'meter',
    stream: '{}',
    window: JANUARY,
    allowance: allowance(limit, resets),
    usage: { ...usageOf(usage), intervals: valuesOf(resets) },
  };
}

/** Quantities that are billed. */
const billed = (...lines: UsedLine[]): string[] =>
  applyAllowances(lines).map(({ quantity }) => plain(quantity));
/** January as the only reset window. */
const MONTH: Reset = { window: JANUARY, until: [JANUARY, '0'] };

describe('allowance of one line (10.2)', () => {
  it('L 10 DAILY, three days with 12, 8, 15: 2 + 0 + 5 = 7', () => {
    const days = ['12', '8', '15'].map((usage, index): Reset => {
      const window = daysOf(`2026-01-0${index + 1}`, 1);
      return { window, until: [window, usage] };
    });
    expect(billed(line('10', '35', days))).toEqual(['7']);
  });

  it('L 100 NEVER, 90 used before, 30 now: 20', () => {
    const life = { startMs: day('2025-06-01'), endMs: Infinity };
    const used: [Interval, string] = [{ ...life, endMs: JANUARY.startMs }, '90'];
    const until: [Interval, string] = [{ ...life, endMs: JANUARY.endMs }, '120'];
    expect(billed(line('100', '30', [{ window: life, used, until }]))).toEqual(['20']);
  });

  it('L 1200 ANNUAL, 1150 used before in the year, 100 now: 50 (34.5)', () => {
    const year = { startMs: day('2025-07-01'), endMs: day('2026-07-01') };
    const used: [Interval, string] = [{ ...year, endMs: JANUARY.startMs }, '1150'];
    const until: [Interval, string] = [{ ...year, endMs: JANUARY.endMs }, '1250'];
    expect(billed(line('1200', '100', [{ window: year, used, until }]))).toEqual(['50']);
  });

  it('unlimited: nothing is billed', () => {
    expect(billed(line(null, '35', []))).toEqual(['0']);
  });

  it('no entitlement: everything is billed, and no window is named', () => {
    const [bill] = applyAllowances([{ ...line('0', '35', []), allowance: null }]);
    expect([bill && plain(bill.quantity), bill?.allowance]).toEqual(['35', null]);
  });

  it('a limit of 0 covers nothing', () => {
    expect(billed(line('0', '35', [MONTH]))).toEqual(['35']);
  });

  it('a meter that never resets is billed beyond the limit as a whole', () => {
    expect(billed(line('100', '120', []))).toEqual(['20']);
    expect(billed(line('100', '80', []))).toEqual(['0']);
  });

  it('is never more than the quantity, as where daily maxima add up', () => {
    const days = ['01', '02'].map((date): Reset => {
      const window = daysOf(`2026-01-${date}`, 1);
      return { window, until: [window, '9'] };
    });
    expect(billed(line('1', '9', days))).toEqual(['9']);
  });

  it('is never negative, as where a later value is lower than an earlier one', () => {
    const used: [Interval, string] = [daysOf('2025-12-31', 1), '50'];
    const until: [Interval, string] = [{ ...JANUARY, startMs: day('2025-12-31') }, '20'];
    const window = { startMs: day('2025-12-31'), endMs: JANUARY.endMs };
    expect(billed(line('10', '20', [{ window, used, until }]))).toEqual(['0']);
  });

  it('never takes a missing reading for a usage of 0', () => {
    const window = daysOf('2026-01-01', 1);
    const made = line('10', '35', [{ window, until: [window, '12'] }]);
    expect(() => billed({ ...made, usage: { ...made.usage, intervals: [] } })).toThrow('no usage');
  });

  it('says of every window what was used before it, until its end and free', () => {
    const year = { startMs: day('2025-07-01'), endMs: day('2026-07-01') };
    const used: [Interval, string] = [{ ...year, endMs: JANUARY.startMs }, '1150'];
    const until: [Interval, string] = [{ ...year, endMs: JANUARY.endMs }, '1250'];
    const [bill] = applyAllowances([line('1200', '100', [{ window: year, used, until }])]);
    expect(JSON.parse(JSON.stringify(bill?.allowance))).toEqual({
      limit: '1200',
      resetPeriod: null,
      windows: [{ ...year, usedBefore: '1150', usedUntil: '1250', free: '50' }],
    });
  });
});

describe('lines that share an allowance (10.2)', () => {
  const of = (stream: string, usage: string, change: Partial<UsedLine> = {}): UsedLine => ({
    ...line('100', usage, [MONTH]),
    stream,
    ...change,
  });

  it('use it up in line order', () => {
    expect(billed(of('eu', '70'), of('us', '50'), of('asia', '5'))).toEqual(['0', '20', '5']);
    expect(billed(of('us', '50'), of('eu', '70'))).toEqual(['0', '20']);
  });

  it('a line that begins later takes what is left, whatever the line order', () => {
    const late = { ...of('eu', '70'), window: daysOf('2026-01-16', 16) };
    const { usage } = of('eu', '70');
    const intervals = [{ interval: JANUARY, usage: decimalOf('70') }];
    expect(billed({ ...late, usage: { ...usage, intervals } }, of('us', '50'))).toEqual([
      '20',
      '0',
    ]);
  });

  it('start from what all of them used before', () => {
    const year = { startMs: day('2025-07-01'), endMs: day('2026-07-01') };
    const shared = (stream: string, before: string, until: string): UsedLine => {
      const used: [Interval, string] = [{ ...year, endMs: JANUARY.startMs }, before];
      const reset = { window: year, used };
      const total: [Interval, string] = [{ ...year, endMs: JANUARY.endMs }, until];
      const usage = plain(decimalOf(until).minus(before));
      return { ...line('100', usage, [{ ...reset, until: total }]), stream };
    };
    expect(billed(shared('eu', '30', '60'), shared('us', '40', '50'))).toEqual(['0', '10']);
  });

  it('do not share with lines of other meters', () => {
    expect(billed(of('eu', '70'), of('us', '50', { meterId: 'other' }))).toEqual(['0', '0']);
  });

  it('a line that replaces another on 16 Jan does not renew it (34.5)', () => {
    const [first, rest] = [daysOf('2026-01-01', 15), daysOf('2026-01-16', 16)];
    const old: UsedLine = {
      ...line('100', '80', [{ window: JANUARY, until: [first, '80'] }]),
      window: first,
    };
    const used: [Interval, string] = [first, '80'];
    const reset: Reset = { window: JANUARY, used, until: [JANUARY, '110'] };
    const successor: UsedLine = { ...line('100', '30', [reset]), window: rest };
    expect(billed(old, successor)).toEqual(['0', '10']);
  });

  it('a replaced line of a MAX meter is billed for what its successor adds to the maximum', () => {
    const [first, rest] = [daysOf('2026-01-01', 15), daysOf('2026-01-16', 16)];
    const old: UsedLine = {
      ...line('10', '8', [{ window: JANUARY, until: [first, '8'] }]),
      window: first,
    };
    const reset: Reset = { window: JANUARY, used: [first, '8'], until: [JANUARY, '12'] };
    expect(billed(old, { ...line('10', '12', [reset]), window: rest })).toEqual(['0', '2']);
  });

  it('a replaced line of a meter that never resets leaves its history to its successor', () => {
    const [first, rest] = [daysOf('2026-01-01', 15), daysOf('2026-01-16', 16)];
    const [old, successor] = [line('10', '8', []), line('10', '12', [])];
    expect(billed({ ...old, window: first }, { ...successor, window: rest })).toEqual(['0', '2']);
  });

  describe('lines of the same events at the same time', () => {
    const rest = daysOf('2026-01-10', 22);
    /** A line beside that of the plan: of 12 events, 5 happened before it begins. */
    const later = (limit: string): UsedLine => {
      const used: [Interval, string] = [daysOf('2026-01-01', 9), '5'];
      const own: Reset = { window: JANUARY, used, until: [JANUARY, '12'] };
      return { ...line(limit, '7', [own]), window: rest };
    };
    const plan = (limit: string): UsedLine =>
      line(limit, '12', [{ window: JANUARY, until: [JANUARY, '12'] }]);

    it('are free on all of them, or billed on all of them', () => {
      expect(billed(plan('12'), later('12'))).toEqual(['0', '0']);
      expect(billed(later('8'), plan('8'))).toEqual(['4', '4']);
      expect(billed(plan('3'), later('3'))).toEqual(['9', '7']);
      expect(billed(plan('8'), plan('8'))).toEqual(['4', '4']);
    });

    it('leave the same to a line of other events, however far each of them goes', () => {
      const used: [Interval, string] = [daysOf('2026-01-01', 9), '5'];
      const until: [Interval, string] = [daysOf('2026-01-01', 12), '8'];
      const three = line('20', '3', [{ window: JANUARY, used, until }]);
      const shorter = { ...three, window: daysOf('2026-01-10', 3) };
      const other: UsedLine = {
        ...line('20', '10', [{ window: JANUARY, until: [JANUARY, '10'] }]),
        stream: 'other',
        window: daysOf('2026-01-20', 12),
      };
      expect(billed(plan('20'), shorter, other)).toEqual(['0', '0', '2']);
    });

    it('of a meter that never resets, too', () => {
      const [first, second] = [line('10', '12', []), line('10', '12', [])];
      expect(billed(first, { ...second, window: rest })).toEqual(['2', '2']);
    });
  });

  it('usage between two lines of the same events uses it up as well', () => {
    const [first, last] = [daysOf('2026-01-01', 10), daysOf('2026-01-20', 12)];
    const old: UsedLine = {
      ...line('100', '50', [{ window: JANUARY, until: [first, '50'] }]),
      window: first,
    };
    const used: [Interval, string] = [daysOf('2026-01-01', 19), '90'];
    const reset: Reset = { window: JANUARY, used, until: [JANUARY, '120'] };
    expect(billed(old, { ...line('100', '30', [reset]), window: last })).toEqual(['0', '20']);
  });
});

describe('allowance on buckets (10.2)', () => {
  const bucket = (hour: number, ...groups: [string, string][]): BucketUsage => ({
    startMs: JANUARY.startMs + hour * 3_600_000,
    endMs: JANUARY.startMs + (hour + 1) * 3_600_000,
    groups: groups.map(([text, usage]) => ({ text, usage: decimalOf(usage), eventCount: 1 })),
  });
  const of = (limit: string, buckets: readonly BucketUsage[], windows = [MONTH]): UsedLine => {
    const groups = buckets.flatMap((one) => one.groups);
    const usage = groups.reduce((sum, group) => sum.plus(group.usage), ZERO);
    const made = line(limit, plain(usage), windows);
    return { ...made, usage: { ...made.usage, buckets } };
  };
  /** `hour text left` of every group that is left. */
  const left = (...lines: UsedLine[]): string[][] =>
    applyAllowances(lines).map(({ buckets }) =>
      (buckets ?? []).flatMap(({ startMs, groups }) =>
        groups.map(
          ({ text, usage }) => `${(startMs - JANUARY.startMs) / 3_600_000} ${text} ${plain(usage)}`,
        ),
      ),
    );

  it('is used up in the order of time, groups of one bucket in the order of their texts', () => {
    const hours = [bucket(5, ['', '4']), bucket(2, ['b', '3'], ['a', '3']), bucket(0, ['', '2'])];
    expect(left(of('6', hours))).toEqual([['0  0', '2 a 0', '2 b 2', '5  4']]);
    expect(billed(of('6', hours))).toEqual(['6']);
  });

  it('begins anew in every reset window', () => {
    const days = [daysOf('2026-01-01', 1), daysOf('2026-01-02', 30)];
    const resets = days.map((window): Reset => ({ window, until: [window, '0'] }));
    const hours = [bucket(0, ['', '5']), bucket(23, ['', '5']), bucket(24, ['', '5'])];
    expect(left(of('7', hours, resets))).toEqual([['0  0', '23  3', '24  0']]);
  });

  it('counts what was used before the usage window', () => {
    const window = { ...JANUARY, startMs: day('2025-12-30') };
    const used: [Interval, string] = [daysOf('2025-12-30', 2), '5'];
    const resets: Reset[] = [{ window, used, until: [JANUARY, '0'] }];
    expect(left(of('7', [bucket(0, ['', '4'])], resets))).toEqual([['0  2']]);
  });

  it('is shared by lines in line order', () => {
    const first = { ...of('7', [bucket(9, ['', '5'])]), stream: 'eu' };
    const second = { ...of('7', [bucket(0, ['', '5'])]), stream: 'us' };
    expect(left(first, second)).toEqual([['9  0'], ['0  3']]);
  });

  it('unlimited: no bucket is left', () => {
    const made = of('0', [bucket(0, ['', '5'])]);
    expect(left({ ...made, allowance: { limit: null, resetPeriod: null, windows: [] } })).toEqual([
      [],
    ]);
  });
});

describe('laws', () => {
  const quantities = fc.nat(1_000_000).map((micros) => new Decimal(micros).dividedBy(1000));

  it('a line alone is billed q − min(free, q), however its days are cut', () => {
    fc.assert(
      fc.property(quantities, fc.array(quantities, { maxLength: 6 }), (limit, parts) => {
        const usage = parts.reduce((sum, part) => sum.plus(part), ZERO);
        const buckets = parts.map((part, index): BucketUsage => {
          const startMs = JANUARY.startMs + index * DAY_MS;
          const groups = [{ text: '', usage: part, eventCount: 1 }];
          return { startMs, endMs: startMs + DAY_MS, groups };
        });
        const whole = line(plain(limit), plain(usage), [MONTH]);
        const cut = { ...whole, usage: { ...whole.usage, buckets } };
        const window: Reset = { window: JANUARY, until: [JANUARY, plain(usage)] };
        const expected = plain(usage.minus(Decimal.min(limit, usage)));
        expect(billed(line(plain(limit), plain(usage), [window]))).toEqual([expected]);
        expect(billed(cut)).toEqual([expected]);
      }),
    );
  });

  it('lines that share are billed together as one line would be', () => {
    fc.assert(
      fc.property(quantities, fc.array(quantities, { maxLength: 6 }), (limit, parts) => {
        const lines = parts.map((part, index) => ({
          ...line(plain(limit), plain(part), [{ ...MONTH, until: [JANUARY, plain(part)] }]),
          stream: String(index),
        }));
        const sum = applyAllowances(lines).reduce((total, one) => total.plus(one.quantity), ZERO);
        const usage = parts.reduce((total, part) => total.plus(part), ZERO);
        expect(plain(sum)).toBe(plain(usage.minus(Decimal.min(limit, usage))));
      }),
    );
  });
});
