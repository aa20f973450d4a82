import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { FairQueue, type Place } from './fair-queue.js';

const LIMITS = { runningMax: 2, waitingMax: 3, waitMs: 60_000 };

/** Enters a request for each name; `granted` lists the names in the order of their turns. */
function enterAll(queue: FairQueue, callers: readonly string[]) {
  const granted: string[] = [];
  const places = callers.map((caller, index): Place => {
    const place = queue.enter(caller);
    void place.turn.then((turn) => {
      if (turn === 'granted') granted.push(`${caller}${index}`);
    });
    return place;
  });
  return { granted, places };
}

/** Lets promises that are settled be seen. */
const settled = (): Promise<void> => delay(0);

describe('the queue of heavy requests', () => {
  test('runs as many at once as its limit, and the next when one is done', async () => {
    const queue = new FairQueue(LIMITS);
    const { granted, places } = enterAll(queue, ['a', 'a', 'a', 'a']);
    await settled();
    expect(granted).toEqual(['a0', 'a1']);
    places[1]?.done();
    places[1]?.done();
    await settled();
    expect(granted).toEqual(['a0', 'a1', 'a2']);
    for (const place of places) place.done();
    await settled();
    for (const place of places) place.done();
    expect(queue.isIdle).toBe(true);
  });

  test('lets callers take turns, whoever sent more', async () => {
    const queue = new FairQueue({ ...LIMITS, runningMax: 1 });
    const { granted, places } = enterAll(queue, ['a', 'a', 'a', 'a', 'b', 'c', 'b']);
    for (let count = 0; count < places.length; count += 1) {
      await settled();
      const [, index] = /(\d+)$/.exec(granted.at(-1) ?? '') ?? [];
      places[Number(index)]?.done();
    }
    expect(granted).toEqual(['a0', 'a1', 'b4', 'c5', 'a2', 'b6', 'a3']);
    expect(queue.isIdle).toBe(true);
  });

  test('refuses a caller at once who has too many waiting, and no other', async () => {
    const queue = new FairQueue(LIMITS);
    const { places } = enterAll(queue, ['a', 'a', 'a', 'a', 'a', 'a', 'b']);
    expect(await places[5]?.turn).toBe('full');
    places[0]?.done();
    places[1]?.done();
    expect(await places[4 - 2]?.turn).toBe('granted');
    expect(await places[6]?.turn).toBe('granted');
  });

  test('refuses a request that waits too long, and frees its place', async () => {
    const queue = new FairQueue({ ...LIMITS, waitMs: 30 });
    const { places } = enterAll(queue, ['a', 'a', 'a']);
    const startedAt = performance.now();
    expect(await places[2]?.turn).toBe('late');
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(28);
    for (const place of places) place.done();
    expect(queue.isIdle).toBe(true);
    expect(await queue.enter('b').turn).toBe('granted');
  });

  test('drops a request whose client leaves, which never runs', async () => {
    const queue = new FairQueue(LIMITS);
    const { granted, places } = enterAll(queue, ['a', 'a', 'a', 'a']);
    places[2]?.leave();
    expect(await places[2]?.turn).toBe('left');
    places[0]?.done();
    await settled();
    expect(granted).toEqual(['a0', 'a1', 'a3']);
    places[3]?.leave();
    for (const place of places) place.done();
    expect(queue.isIdle).toBe(true);
  });
});
