import { describe, expect, test } from 'vitest';
import { prorationDays } from './proration.js';

const at = (text: string): number => Date.parse(text);

describe('proration_days', () => {
  test.each([
    ['2026-01-16T00:00Z', '2026-02-01T00:00Z', 'UTC', 16],
    ['2026-01-16T12:00Z', '2026-02-01T00:00Z', 'UTC', 16],
    ['2026-03-15T23:00Z', '2026-03-31T22:00Z', 'Europe/Berlin', 16],
    ['2026-02-01T00:00Z', '2026-02-01T00:00Z', 'UTC', 0],
  ])('from %s to %s in %s are %i', (...[from, to, timezone, days]) => {
    expect(prorationDays(at(from), at(to), timezone)).toBe(days);
  });
});
