import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { LogBounds } from '../interface/event-log.js';
import { EndWatch } from './end-watch.js';

const PAUSES = { leastMs: 20, mostMs: 250 };
const MINUTE_MS = 60_000;

/** A log of two partitions whose ends the test sets, and how often they were asked for. */
function watchedLog() {
  const log = { ends: [5, 7], looks: 0 };
  const fetchBounds = (): Promise<readonly LogBounds[]> => {
    log.looks += 1;
    return Promise.resolve(log.ends.map((endOffset) => ({ startOffset: 0, endOffset })));
  };
  return { log, watch: new EndWatch(fetchBounds, PAUSES) };
}

/** Runs the clock for so long; how many looks there were meanwhile. */
async function looksIn(log: { readonly looks: number }, ms: number): Promise<number> {
  const before = log.looks;
  await vi.advanceTimersByTimeAsync(ms);
  return log.looks - before;
}

describe('the watch on the ends of the log', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('looks seldom while nothing comes, and often again as soon as something has', async () => {
    const { log, watch } = watchedLog();
    const waits = [5, 7].map((offset, partition) =>
      watch.waitWhileAt({ partition, offset, waitMs: MINUTE_MS }),
    );
    expect(await looksIn(log, 400)).toBe(20);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await looksIn(log, 10_000)).toBe(40);
    log.ends = [6, 7];
    // The first record waits no longer than the longest pause.
    await vi.advanceTimersByTimeAsync(PAUSES.mostMs);
    await waits[0];
    expect(await looksIn(log, 200)).toBe(10);
    watch.close();
    await Promise.all(waits);
    expect(await looksIn(log, 10_000)).toBe(0);
  });

  test('asks no more than its own looks for a wait that begins at rest', async () => {
    const { log, watch } = watchedLog();
    const wait = watch.waitWhileAt({ partition: 0, offset: 5, waitMs: MINUTE_MS });
    await vi.advanceTimersByTimeAsync(5_000);
    const { looks } = log;
    expect(await watch.beforeWait(1)).toEqual({ startOffset: 0, endOffset: 7 });
    expect(log.looks).toBe(looks);
    watch.close();
    await wait;
    // Nobody looks any more, so that the latest bounds may be old.
    await watch.beforeWait(1);
    expect(log.looks).toBe(looks + 1);
  });

  test('wakes a reader whose log ends before its offset', async () => {
    const { log, watch } = watchedLog();
    const wait = watch.waitWhileAt({ partition: 1, offset: 7, waitMs: MINUTE_MS });
    log.ends = [5, 3];
    await vi.advanceTimersByTimeAsync(PAUSES.leastMs);
    await wait;
    expect(log.looks).toBe(1);
  });
});
