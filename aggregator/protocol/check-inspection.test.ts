import { describe, expect, it } from 'vitest';
import { checkInspection } from './check-inspection.js';
import type { Checkpoint, Inspection } from './state.js';

const MARCH = Date.UTC(2026, 2);

const checkpoint = (appendedAtMs: number | null, erased = 0): Checkpoint => ({
  ...{ epoch: 3, nextOffset: 50, intent: null, minVersion: 1, catalogVersion: 1 },
  lastBatch: { start: 40, rows: 10, erased, appendedAtMs },
});

const inspection = (
  found: { readonly events?: number; readonly ids?: number; readonly marker?: number },
  rawEventsBeginMs: number | null,
): Inspection => ({
  rowsBeyond: 0,
  lastBatch: { events: 10, ids: 10, marker: 1, ...found },
  ...{ rawEventsBeginMs, logStart: 0, logEnd: 50 },
});

describe('the last batch at a take', () => {
  it.each([
    ['all of its rows', MARCH, {}, null, null],
    ['no events, which have not expired', MARCH, { events: 0 }, null, 'last_batch_missing'],
    ['no events, which are younger', MARCH, { events: 0 }, MARCH, 'last_batch_missing'],
    ['no events, which have expired', MARCH - 1, { events: 0 }, MARCH, null],
    ['some events, which are being removed', MARCH - 1, { events: 4 }, MARCH, null],
    ['events that expired and are there still', MARCH - 1, {}, MARCH, null],
    ['no events, of a batch of unknown age', null, { events: 0 }, MARCH, null],
    ['more events than it had', MARCH - 1, { events: 11 }, MARCH, 'last_batch_missing'],
    ['expired events, and ids missing', MARCH - 1, { ids: 9 }, MARCH, 'last_batch_missing'],
    ['expired events, and no marker', MARCH - 1, { marker: 0 }, MARCH, 'last_batch_missing'],
  ] as const)(
    'may have %s, or halts the partition',
    (...[, appendedAtMs, found, beginMs, reason]) => {
      expect(checkInspection(checkpoint(appendedAtMs), inspection(found, beginMs))).toBe(reason);
    },
  );

  it('may lack the events that were erased, and no more until they expire', () => {
    const reasonOf = (events: number, beginMs: number | null) =>
      checkInspection(checkpoint(MARCH - 1, 3), inspection({ events }, beginMs));
    expect([10, 7, 6].map((events) => reasonOf(events, null))).toEqual([
      null,
      null,
      'last_batch_missing',
    ]);
    expect(reasonOf(6, MARCH)).toBe(null);
  });
});
