import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FairQueue } from './fair-queue.js';

const LIMITS = { runningMax: 1, runningPerKeyMax: 1, waitingPerKeyMax: 3, waitMsMax: 60_000 };

/** Work that runs until it is told to end, and what has begun so far. */
function createWork() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.push(() => resolve(name)));
  };
  const endNext = async (): Promise<void> => {
    ends.shift()?.();
    await delay(0);
  };
  return { begun, work, endNext };
}

describe('a fair queue', () => {
  it('lets no key wait for more than one piece of each other key', async () => {
    const queue = new FairQueue(LIMITS);
    const { begun, work, endNext } = createWork();
    const names = ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2'];
    const all = names.map((name) => queue.run(name.slice(0, 1), work(name)));
    for (let index = 0; index < names.length; index += 1) await endNext();
    await Promise.all(all);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  it('refuses at once what comes when a key has too much waiting, and nobody else', async () => {
    const queue = new FairQueue(LIMITS);
    const { begun, work, endNext } = createWork();
    const kept = ['a1', 'a2', 'a3', 'a4'].map((name) => queue.run('a', work(name)));
    await expect(queue.run('a', work('a5'))).rejects.toMatchObject({
      reason: 'full',
    });
    const other = queue.run('b', work('b1'));
    for (let index = 0; index < 5; index += 1) await endNext();
    await Promise.all([...kept, other]);
    expect(begun).not.toContain('a5');
    expect(begun).toHaveLength(5);
  });

  it('refuses what has waited too long, and goes on with the rest', async () => {
    const queue = new FairQueue({ ...LIMITS, waitMsMax: 20 });
    const { begun, work, endNext } = createWork();
    const first = queue.run('a', work('a1'));
    await expect(queue.run('a', work('a2'))).rejects.toMatchObject({
      reason: 'waited',
    });
    const late = queue.run('a', work('a3'));
    await endNext();
    await endNext();
    expect(await Promise.all([first, late])).toEqual(['a1', 'a3']);
    expect(begun).toEqual(['a1', 'a3']);
  });

  it('forgets what waits when its caller leaves', async () => {
    const queue = new FairQueue(LIMITS);
    const { begun, work, endNext } = createWork();
    const first = queue.run('a', work('a1'));
    const leaving = new AbortController();
    const left = queue.run('a', work('a2'), leaving.signal);
    leaving.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await endNext();
    await first;
    await expect(queue.run('a', work('a3'), leaving.signal)).rejects.toThrow('left');
    expect(begun).toEqual(['a1']);
  });

  it('gives a place free after work that fails', async () => {
    const queue = new FairQueue(LIMITS);
    await expect(queue.run('a', () => Promise.reject(new Error('broken')))).rejects.toThrow();
    expect(await queue.run('a', () => Promise.resolve(7))).toBe(7);
  });

  it('never runs more than its limits, and begins all that it accepted', async () => {
    const key = fc.constantFrom('a', 'b', 'c');
    const limits = fc.record({
      runningMax: fc.integer({ min: 1, max: 4 }),
      runningPerKeyMax: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(limits, fc.array(key, { maxLength: 40 }), async (bounds, keys) => {
        const queue = new FairQueue({ ...LIMITS, ...bounds, waitingPerKeyMax: 100 });
        const running = { a: 0, b: 0, c: 0 };
        let done = 0;
        const work = (own: 'a' | 'b' | 'c') => async () => {
          running[own] += 1;
          expect(running[own]).toBeLessThanOrEqual(bounds.runningPerKeyMax);
          expect(running.a + running.b + running.c).toBeLessThanOrEqual(bounds.runningMax);
          await Promise.resolve();
          running[own] -= 1;
          done += 1;
        };
        await Promise.all(keys.map((own) => queue.run(own, work(own))));
        expect(done).toBe(keys.length);
      }),
    );
  });
});
