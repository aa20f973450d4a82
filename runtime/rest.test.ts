import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { Rest } from './rest.js';

const PAUSES = { busyMs: 250, restMs: 1_000 };
const { signal } = new AbortController();

/** How long the next pause takes; `meanwhile` is done so long after its beginning. */
async function pauseOf(rest: Rest, meanwhile: readonly (readonly [number, () => void])[] = []) {
  let endedMs = Number.NaN;
  const beganMs = performance.now();
  const pausing = rest.pause(signal).then(() => (endedMs = performance.now() - beganMs));
  let passedMs = 0;
  for (const [atMs, act] of meanwhile) {
    await vi.advanceTimersByTimeAsync(atMs - passedMs);
    passedMs = atMs;
    act();
  }
  await vi.advanceTimersByTimeAsync(2_000);
  await pausing;
  return endedMs;
}

describe('rest', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test('makes pauses long some seconds after the last stir, and short after the next', async () => {
    const rest = new Rest(PAUSES);
    expect(await pauseOf(rest)).toBe(250);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await pauseOf(rest)).toBe(1_000);
    rest.stir();
    expect(await pauseOf(rest)).toBe(250);
  });

  test.for([
    [300, 550],
    [900, 1_000],
  ] as const)('lasts no longer than a short pause after a stir at %i ms', async ([at, end]) => {
    const rest = new Rest(PAUSES);
    await vi.advanceTimersByTimeAsync(5_000);
    const stir = (): void => {
      rest.stir();
    };
    const again = [at, at + 50].map((ms) => [ms, stir] as const);
    expect(await pauseOf(rest, again)).toBe(end);
  });

  test('ends a pause when the signal aborts', async () => {
    const stop = new AbortController();
    const pausing = new Rest(PAUSES).pause(stop.signal);
    stop.abort();
    await pausing;
    await new Rest(PAUSES).pause(stop.signal);
    expect(vi.getTimerCount()).toBe(0);
  });
});
