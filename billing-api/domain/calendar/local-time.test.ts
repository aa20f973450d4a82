import { describe, expect, it } from 'vitest';
import { parseInstant } from '../../../contract/instant.js';
import { stretchAt, timezoneNamed } from './local-time.js';

const CHANGE_MS = parseInstant('2026-03-29T01:00:00Z') ?? 0;

describe('timezoneNamed (3.1)', () => {
  it.each([
    ['Europe/Berlin', 'Europe/Berlin'],
    ['europe/berlin', 'Europe/Berlin'],
    ['UTC', 'UTC'],
    ['Mars/Olympus', null],
    ['+02:00', null],
    ['', null],
  ])('reads %s as %s', (text, name) => {
    expect(timezoneNamed(text)).toBe(name);
  });
});

describe('stretchAt', () => {
  it('begins at a clock change, and ends just before the next', () => {
    const before = stretchAt(CHANGE_MS - 1, 'Europe/Berlin');
    const after = stretchAt(CHANGE_MS, 'Europe/Berlin');
    expect([before.endMs, before.offsetMs]).toEqual([CHANGE_MS, 3_600_000]);
    expect([after.startMs, after.offsetMs]).toEqual([CHANGE_MS, 7_200_000]);
    expect(stretchAt(after.endMs - 1, 'Europe/Berlin')).toEqual(after);
  });

  it('is endless in a zone without clock changes', () => {
    const { startMs, endMs, offsetMs } = stretchAt(CHANGE_MS, 'UTC');
    expect([startMs < 0, endMs > 253_402_300_800_000, offsetMs]).toEqual([true, true, 0]);
  });
});
