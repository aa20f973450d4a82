import { describe, expect, it } from 'vitest';
import { formatInstant } from '../../../contract/instant.js';
import { day, subscriptionOf } from '../../testing/invoice-samples.js';
import { periodAt, unpausedMs, unsplitPeriodAt } from './ledger-periods.js';
import { appendRow, endLedger, recordPause, splitLastRow } from './ledger-rows.js';
import { anchoredPeriodAt, ownPeriodAt } from './own-periods.js';
import type { LedgerPeriod, PeriodLedger } from './period-ledger.js';

const date = (ms: number): string => formatInstant(ms).slice(0, 10);
const shown = ({ kind, startMs, endMs, gridNumber }: LedgerPeriod): string =>
  `${kind} ${date(startMs)} ${date(endMs)} ${gridNumber}`;
const rows = ({ periods }: PeriodLedger): string[] => periods.map(shown);
const pause = (start: string, end: string) => ({ startMs: day(start), endMs: day(end) });
const own = (ledger: PeriodLedger, steps: number, at: string): string | null => {
  const period = ownPeriodAt(ledger, steps, day(at));
  return period === null ? null : [period.startMs, period.endMs].map(date).join(' ');
};
const MONTHLY: PeriodLedger = subscriptionOf();
const CALENDAR: PeriodLedger = subscriptionOf({
  billingCycle: 'calendar',
  billingAnchorMs: day('2026-02-01'),
});

describe('operations on the ledger (12.10)', () => {
  it('a renewal appends the next period', () => {
    expect(rows(appendRow(appendRow(MONTHLY)))).toEqual([
      'regular 2026-01-01 2026-02-01 0',
      'regular 2026-02-01 2026-03-01 1',
      'regular 2026-03-01 2026-04-01 2',
    ]);
  });

  it('the end of a trial is the anchor of the periods after it', () => {
    const trial = subscriptionOf({ trialEndMs: day('2026-01-20') });
    expect(rows(appendRow(appendRow(trial)))).toEqual([
      'trial 2026-01-01 2026-01-20 0',
      'regular 2026-01-20 2026-02-20 0',
      'regular 2026-02-20 2026-03-20 1',
    ]);
  });

  it('on a calendar cycle the next boundary after the trial is the anchor', () => {
    const trial = { ...CALENDAR, ...subscriptionOf({ trialEndMs: day('2026-01-20') }) };
    expect(rows(appendRow({ ...trial, billingCycle: 'calendar' })).slice(1)).toEqual([
      'regular 2026-01-20 2026-02-01 -1',
    ]);
  });

  it('a pause of ten days moves the end to 11 February, and the anchor with it (26)', () => {
    const paused = recordPause(MONTHLY, pause('2026-01-05', '2026-01-15'));
    expect(rows(appendRow(appendRow(paused)))).toEqual([
      'regular 2026-01-01 2026-02-11 0',
      'regular 2026-02-11 2026-03-11 1',
      'regular 2026-03-11 2026-04-11 2',
    ]);
    expect(unpausedMs(paused.periods[0], paused.periods[0].pauses) / 86_400_000).toBe(31);
  });

  it('a pause leaves the anchor of a calendar cycle; a short period follows (26)', () => {
    const paused = recordPause(CALENDAR, pause('2026-01-05', '2026-01-15'));
    const [, next] = appendRow(paused).periods;
    expect(next && shown(next)).toBe('regular 2026-02-11 2026-03-01 0');
    expect(next?.grid).toEqual({ startMs: day('2026-02-01'), endMs: day('2026-03-01') });
  });

  it('a pause longer than a period leaves out the grid periods that it covers', () => {
    const paused = recordPause(CALENDAR, pause('2026-01-05', '2026-02-14'));
    expect(rows(appendRow(paused))[1]).toBe('regular 2026-03-13 2026-04-01 1');
  });

  it('a threshold invoice splits the running row, and the parts are one unsplit period', () => {
    const split = splitLastRow(splitLastRow(MONTHLY, day('2026-01-10')), day('2026-01-20'));
    expect(rows(appendRow(split))).toEqual([
      'threshold 2026-01-01 2026-01-10 0',
      'threshold 2026-01-10 2026-01-20 0',
      'regular 2026-01-20 2026-02-01 0',
      'regular 2026-02-01 2026-03-01 1',
    ]);
    for (const at of ['2026-01-05', '2026-01-15', '2026-01-25']) {
      expect(unsplitPeriodAt(split, day(at))).toMatchObject(pause('2026-01-01', '2026-02-01'));
    }
  });

  it('a pause before a threshold invoice still moves the anchor', () => {
    const paused = recordPause(MONTHLY, pause('2026-01-05', '2026-01-15'));
    expect(rows(appendRow(splitLastRow(paused, day('2026-01-20')))).at(-1)).toBe(
      'regular 2026-02-11 2026-03-11 1',
    );
  });

  it('a cancellation ends the running row and the ledger', () => {
    const ended = endLedger(appendRow(MONTHLY), day('2026-02-10'));
    expect(rows(ended).at(-1)).toBe('last 2026-02-01 2026-02-10 1');
    expect(periodAt(ended, day('2026-02-10'))).toBeNull();
    expect(() => appendRow(ended)).toThrow('no period follows');
  });

  it('an end date ends the period that contains it, also when a pause moves its end', () => {
    const ending = subscriptionOf({ endMs: day('2026-02-05') });
    expect(rows(appendRow(ending)).at(-1)).toBe('last 2026-02-01 2026-02-05 1');
    const paused = recordPause(ending, pause('2026-01-05', '2026-01-15'));
    expect(rows(paused)).toEqual(['last 2026-01-01 2026-02-05 0']);
  });
});

describe('rows that renewals would append', () => {
  it('are those that renewals append', () => {
    const start = recordPause(appendRow(MONTHLY), pause('2026-02-10', '2026-02-13'));
    let recorded: PeriodLedger = start;
    for (let count = 0; count < 14; count += 1) recorded = appendRow(recorded);
    for (const period of recorded.periods) {
      expect(periodAt(start, period.startMs)).toEqual(period);
      expect(periodAt(start, period.endMs - 1)).toEqual(period);
    }
  });
});

describe('own periods of longer lines (13.3)', () => {
  it('are counted by the number of their grid periods', () => {
    expect(own(MONTHLY, 3, '2026-02-10')).toBe('2026-01-01 2026-04-01');
    expect(own(MONTHLY, 3, '2027-05-10')).toBe('2027-04-01 2027-07-01');
  });

  it('last longer by a pause and do not begin anew where the anchor moves', () => {
    const paused = recordPause(MONTHLY, pause('2026-01-05', '2026-01-15'));
    expect(own(paused, 12, '2026-06-01')).toBe('2026-01-01 2027-01-11');
    expect(own(paused, 12, '2027-01-11')).toBe('2027-01-11 2028-01-11');
    const { full } = ownPeriodAt(paused, 12, day('2026-06-01')) ?? {};
    expect(full).toEqual({ startMs: day('2026-01-01'), endMs: day('2027-01-01') });
  });

  it('begin after the trial, and there are none in it', () => {
    const trial = subscriptionOf({ trialEndMs: day('2026-01-20') });
    expect(own(trial, 3, '2026-01-10')).toBeNull();
    expect(own(trial, 3, '2026-02-10')).toBe('2026-01-20 2026-04-20');
  });

  it('begin before the anchor where that lies after the start', () => {
    const later = subscriptionOf({ billingAnchorMs: day('2026-01-15') });
    expect(own(later, 3, '2026-01-10')).toBe('2026-01-01 2026-01-15');
    expect(own(later, 3, '2026-01-20')).toBe('2026-01-15 2026-04-15');
  });

  it('end with the subscription', () => {
    expect(own(endLedger(MONTHLY, day('2026-01-20')), 3, '2026-01-10')).toBe(
      '2026-01-01 2026-01-20',
    );
  });
});

describe('windows from the anchor in force (10.2)', () => {
  it('end where the anchor moves, and begin there anew', () => {
    const paused = appendRow(recordPause(MONTHLY, pause('2026-01-05', '2026-01-15')));
    const weekAt = (at: string): string => {
      const { startMs = 0, endMs = 0 } = anchoredPeriodAt(paused, 'WEEKLY', day(at)) ?? {};
      return [startMs, endMs].map(date).join(' ');
    };
    expect(weekAt('2026-01-03')).toBe('2026-01-01 2026-01-08');
    expect(weekAt('2026-02-08')).toBe('2026-02-05 2026-02-11');
    expect(weekAt('2026-02-11')).toBe('2026-02-11 2026-02-18');
  });
});
