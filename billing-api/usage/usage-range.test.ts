import { describe, expect, it } from 'vitest';
import { MemberReader } from '../records/member-rules.js';
import { readTerms, type UsageRequest } from './usage-request.js';
import { isRefusal, type Refusal } from '../records/refusal.js';
import { windowsOf } from './usage-range.js';

const NOW = Date.parse('2026-11-01T00:00:00Z');

function requestedWindows(request: UsageRequest): number | Refusal {
  const reader = new MemberReader();
  const terms = readTerms(reader, request, NOW);
  const problems = reader.refusal();
  if (problems !== null) return problems;
  const windows = windowsOf({ ...terms, timezone: terms.timezone ?? 'UTC' }, terms.windowSize);
  return isRefusal(windows) ? windows : windows.length;
}

const minutes = (count: number) => ({
  window_size: 'MINUTE' as const,
  start_time: new Date(NOW - count * 60_000).toISOString(),
});

const TOO_MANY = {
  code: 'validation_error',
  details: {
    window_size:
      'the range has more than 44640 windows; take a larger window_size or a shorter range',
  },
};

describe('windows of a usage query', () => {
  it('are a month of minutes at most', () => {
    expect(requestedWindows(minutes(44_639))).toBe(44_639);
    expect(requestedWindows(minutes(44_640))).toBe(44_640);
    expect(requestedWindows(minutes(44_641))).toMatchObject(TOO_MANY);
  });

  it('count as they are, also where clock changes make them longer', () => {
    const start = Date.parse('2020-10-01T00:00:00+02:00');
    const range = (windows: number) => ({
      window_size: '3HOUR' as const,
      timezone: 'Europe/Berlin',
      start_time: new Date(start).toISOString(),
      // January 2036, in winter time: one window of the range has an hour more than three.
      end_time: new Date(start + windows * 10_800_000 + 3_600_000).toISOString(),
    });
    expect(requestedWindows(range(44_640))).toBe(44_640);
    expect(requestedWindows(range(44_641))).toMatchObject(TOO_MANY);
  });

  it.each(['MINUTE', '3HOUR', 'DAY'] as const)('of %s over centuries are refused', (size) => {
    const answer = requestedWindows({
      window_size: size,
      start_time: '1900-01-01T00:00:00Z',
      end_time: '2299-01-01T00:00:00Z',
      timezone: 'Australia/Lord_Howe',
    });
    expect(answer).toMatchObject(TOO_MANY);
  });
});

describe('filters of a usage query', () => {
  const withKeys = (count: number) => ({
    filters: Object.fromEntries([...Array(count).keys()].map((index) => [`k${index}`, ['a']])),
  });

  it('have a hundred keys at most', () => {
    expect(requestedWindows(withKeys(99))).toBe(0);
    expect(requestedWindows(withKeys(100))).toBe(0);
    expect(requestedWindows(withKeys(101))).toMatchObject({
      code: 'validation_error',
      details: { filters: 'give at most 100 property keys' },
    });
  });
});
