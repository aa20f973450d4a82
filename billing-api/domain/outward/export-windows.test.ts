import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CATCH_UP_MS,
  dueWindows,
  EXPORT_INTERVALS,
  exportKey,
  lastClosedWindow,
} from './export-windows.js';

const at = (text: string): number => Date.parse(`2026-03-${text}Z`);
const shown = (windows: ReturnType<typeof dueWindows>) =>
  windows.map(({ startMs, endMs }) => [startMs, endMs].map((ms) => new Date(ms).toISOString()));

describe('the windows of a task that are due', () => {
  test.each([
    ['15MIN', '01T10:19:59.999', []],
    ['15MIN', '01T10:20', ['10:00', '10:15']],
    ['30MIN', '01T10:35', ['10:00', '10:30']],
    ['hourly', '01T11:14:59.999', []],
    ['hourly', '01T11:15', ['10:00', '11:00']],
  ] as const)('%s at %s', (interval, now, window) => {
    const expected =
      window.length === 0 ? [] : [window.map((time) => `2026-03-01T${time}:00.000Z`)];
    expect(shown(dueWindows(interval, at('01T10:03'), at(now)))).toEqual(expected);
  });

  test('of a day begin a quarter past midnight', () => {
    expect(dueWindows('daily', at('01T10:00'), at('02T00:14:59'))).toEqual([]);
    expect(shown(dueWindows('daily', at('01T10:00'), at('02T00:15')))).toEqual([
      ['2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z'],
    ]);
  });

  test('follow each other without a gap, however late they are looked for', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...EXPORT_INTERVALS),
        fc.integer({ min: 0, max: 20 * 86_400_000 }),
        (interval, age) => {
          const now = at('20T12:34:56.789');
          const windows = dueWindows(interval, now - age, now);
          for (const [index, window] of windows.entries()) {
            expect(window.startMs).toBe(windows[index - 1]?.endMs ?? window.startMs);
          }
          const [first] = windows;
          if (first !== undefined) {
            expect(first.endMs).toBeGreaterThan(now - Math.min(age, CATCH_UP_MS));
            expect(windows.at(-1)?.endMs).toBeLessThanOrEqual(now);
          }
        },
      ),
    );
  });
});

test('the last closed window ends at or before now', () => {
  expect(shown([lastClosedWindow('hourly', at('01T10:59'))])).toEqual([
    ['2026-03-01T09:00:00.000Z', '2026-03-01T10:00:00.000Z'],
  ]);
});

test.each([
  [null, false, 'invoice/invoice-260301100000-260301110000.csv'],
  ['/out/', true, 'out/invoice/invoice-260301100000-260301110000.csv.gz'],
])('a key below %s', (prefix, isZipped, expected) => {
  const window = { startMs: at('01T10:00'), endMs: at('01T11:00') };
  expect(exportKey(window, { prefix, entityType: 'invoice', isZipped })).toBe(expected);
});
