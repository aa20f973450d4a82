import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test, vi } from 'vitest';
import { StallWatch } from './stall-watch.js';

const LIMITS = { windowMs: 100, bytesMin: 10 };
const WAIT = { timeout: 5_000, interval: 10 };

describe('the watch of bodies', () => {
  test('calls a body stalled that gets too little in a window, once', async () => {
    const watch = new StallWatch(LIMITS);
    const onStall = vi.fn();
    const startedAt = performance.now();
    watch.watch(onStall).note(LIMITS.bytesMin - 1);
    await vi.waitFor(() => expect(onStall).toHaveBeenCalledOnce(), WAIT);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(LIMITS.windowMs);
    await delay(3 * LIMITS.windowMs);
    expect(onStall).toHaveBeenCalledOnce();
  });

  test('lets a body go on that gets enough in every window, and stops it afterwards', async () => {
    const watch = new StallWatch(LIMITS);
    const onStall = vi.fn();
    const body = watch.watch(onStall);
    const feed = setInterval(() => body.note(LIMITS.bytesMin), 5);
    await delay(5 * LIMITS.windowMs);
    clearInterval(feed);
    expect(onStall).not.toHaveBeenCalled();
    await vi.waitFor(() => expect(onStall).toHaveBeenCalledOnce(), WAIT);
  });

  test('forgets a body that has ended, and watches the next one', async () => {
    const watch = new StallWatch(LIMITS);
    const onStall = vi.fn();
    watch.watch(onStall).end();
    await delay(4 * LIMITS.windowMs);
    expect(onStall).not.toHaveBeenCalled();
    watch.watch(onStall);
    await vi.waitFor(() => expect(onStall).toHaveBeenCalledOnce(), WAIT);
  });

  test('does not blame a client for a pause of this process', async () => {
    const watch = new StallWatch(LIMITS);
    const onStall = vi.fn();
    const body = watch.watch(onStall);
    // What arrives during the pause is read right after the timers that are due.
    const feed = setInterval(() => setImmediate(() => body.note(LIMITS.bytesMin)), 5);
    for (let count = 0; count < 3; count += 1) {
      const until = performance.now() + 2 * LIMITS.windowMs;
      while (performance.now() < until);
      await delay(1);
    }
    clearInterval(feed);
    body.end();
    expect(onStall).not.toHaveBeenCalled();
  });
});
