import { describe, expect, test } from 'vitest';
import { nextDue, scheduleText, type Schedule } from './schedule.js';

function dueAfter(schedule: Schedule, from: string, count: number): readonly string[] {
  let instant = Date.parse(from);
  return Array.from({ length: count }, () => {
    instant = nextDue(schedule, instant);
    return new Date(instant).toISOString();
  });
}

const berlin = (cron: string): Schedule => ({ cron, timeZone: 'Europe/Berlin' });

describe('a schedule', () => {
  test('by an interval is due at whole multiples, whenever a process began', () => {
    const hourly = { everyMs: 3_600_000 };
    expect(dueAfter(hourly, '2026-11-20T10:00:00.000Z', 2)).toEqual([
      '2026-11-20T11:00:00.000Z',
      '2026-11-20T12:00:00.000Z',
    ]);
    expect(dueAfter(hourly, '2026-11-20T10:59:59.999Z', 1)).toEqual(['2026-11-20T11:00:00.000Z']);
  });

  test('by a cron pattern keeps the local time of day when clocks change', () => {
    expect(dueAfter(berlin('0 9 * * *'), '2026-03-28T00:00:00Z', 2)).toEqual([
      '2026-03-28T08:00:00.000Z',
      '2026-03-29T07:00:00.000Z',
    ]);
    expect(dueAfter(berlin('0 9 * * *'), '2026-10-24T00:00:00Z', 2)).toEqual([
      '2026-10-24T07:00:00.000Z',
      '2026-10-25T08:00:00.000Z',
    ]);
  });

  test('makes up for a time of day that does not exist, right after the hour that is left out', () => {
    expect(dueAfter(berlin('30 2 * * *'), '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  test('runs once at a time of day that comes twice', () => {
    expect(dueAfter(berlin('30 2 * * *'), '2026-10-24T12:00:00Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  test('of every hour runs in each hour that passes, also in both that have one name', () => {
    expect(dueAfter(berlin('0 * * * *'), '2026-10-24T23:30:00Z', 3)).toEqual([
      '2026-10-25T00:00:00.000Z',
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T02:00:00.000Z',
    ]);
    expect(dueAfter(berlin('0 * * * *'), '2026-03-29T00:30:00Z', 2)).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-29T02:00:00.000Z',
    ]);
  });

  test('has one text for the same times, and refuses a pattern that means nothing', () => {
    expect(scheduleText(berlin('0 2 * * *'))).toBe('0 2 * * * Europe/Berlin');
    expect(() => nextDue(berlin('61 2 * * *'), 0)).toThrow();
    expect(() => nextDue({ everyMs: 0 }, 0)).toThrow('positive');
  });
});
