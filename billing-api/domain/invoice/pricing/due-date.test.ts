import { describe, expect, it } from 'vitest';
import { formatInstant, parseInstant } from '../../../../contract/instant.js';
import { DUE_DAYS_DEFAULT, dueDateOf, netDaysOf } from './due-date.js';
import { JANUARY } from '../../../testing/invoice-samples.js';

describe('due date (16)', () => {
  it('an opening invoice of 1 Jan to 1 Feb with 15 NET is due on 16 Jan', () => {
    const due = dueDateOf(JANUARY.period, 'period_start', netDaysOf('15 NET') ?? 0);
    expect(formatInstant(due)).toBe('2026-01-16T00:00:00.000Z');
  });

  it('every other one counts from the end of its period', () => {
    const due = dueDateOf(JANUARY.period, 'period_end', DUE_DAYS_DEFAULT);
    expect(formatInstant(due)).toBe('2026-02-02T00:00:00.000Z');
  });

  it('days have 24 hours, also where the clock changes', () => {
    const endMs = parseInstant('2026-03-28T23:00:00Z') ?? 0;
    const due = dueDateOf({ startMs: 0, endMs }, 'period_end', 1);
    expect(formatInstant(due)).toBe('2026-03-29T23:00:00.000Z');
  });

  it.each([
    ['15 NET', 15],
    ['90 NET', 90],
    ['NET 15', null],
    ['', null],
    [null, null],
  ])('payment terms %s are %s days', (terms, days) => {
    expect(netDaysOf(terms)).toBe(days);
  });
});
