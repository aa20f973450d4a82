import { describe, expect, it } from 'vitest';
import { checkInspection } from './check-inspection.js';
import type { Checkpoint, Inspection } from './state.js';

const MARCH = Date.UTC(2026, 2);

const checkpoint = (appendedAtMs: number | null, erased = 0): Checkpoint => ({
  epoch: 3,
  nextOffset: 50,
  intent: null,
  minVersion: 1,
  catalogVersion: 1,
  lastBatch: { start: 40, rows: 10, erased, appendedAtMs },
});

const inspection = (
  found: { readonly events?: number; readonly ids?: number; readonly marker?: number },
  rawEventsBeginMs: number | null,
): Inspection => ({
  rowsBeyond: 0,
  lastBatch: { events: 10, ids: 10, marker: 1, ...found },
  rawEventsBeginMs,
  logStart: 0,
  logEnd: 50,
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

describe('the log at a take', () => {
  const finished = checkpoint(MARCH);
  const intent = { end: 60, catalogVersion: 1, foldVersion: 1, digest: 'digest' };
  const intended: Checkpoint = { ...finished, intent };

  it.each([
    ['begins and ends at the checkpoint', finished, { logStart: 50, logEnd: 50 }, null],
    ['ends before it', finished, { logStart: 0, logEnd: 49 }, 'log_shorter_than_checkpoint'],
    ['begins behind it', finished, { logStart: 51, logEnd: 80 }, 'log_start_beyond_checkpoint'],
    ['ends at an intended batch', intended, { logStart: 50, logEnd: 60 }, null],
    ['ends inside of it', intended, { logStart: 0, logEnd: 59 }, 'log_shorter_than_checkpoint'],
    ['begins inside of it', intended, { logStart: 51, logEnd: 60 }, 'log_start_beyond_checkpoint'],
  ] as const)('%s: read on, or halted', (...[, row, bounds, reason]) => {
    expect(checkInspection(row, { ...inspection({}, null), ...bounds })).toBe(reason);
  });

  it('halts the partition when there are rows beyond the checkpoint', () => {
    const beyond = { ...inspection({}, null), rowsBeyond: 1 };
    expect(checkInspection(finished, beyond)).toBe('rows_beyond_checkpoint');
  });
});
