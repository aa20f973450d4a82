import { describe, expect, it } from 'vitest';
import { LoopTurns } from './loop-turns.js';

/** A clock that only the work moves, and work that notes when it has had its turns. */
function createWorld() {
  let nowMs = 0;
  const turns = new LoopTurns(() => nowMs);
  const done: string[] = [];
  return {
    done,
    /** Takes so many turns, each of which costs so much. */
    async work(tenant: string, { slices, ms }: { slices: number; ms: number }): Promise<void> {
      for (let slice = 0; slice < slices; slice += 1) {
        await turns.take(tenant);
        nowMs += ms;
        done.push(tenant);
      }
    },
  };
}

describe('turns on the event loop', () => {
  it('let what comes late wait for one slice, however much of another tenant waits', async () => {
    const { work, done } = createWorld();
    const greedy = Array.from({ length: 8 }, () => work('a', { slices: 5, ms: 40 }));
    const small = work('b', { slices: 4, ms: 1 });
    await small;
    expect(done.join('')).toMatch(/^a(b|ab){4}$/);
    await Promise.all(greedy);
    expect(done.filter((tenant) => tenant === 'a')).toHaveLength(40);
  });

  it('give tenants equal time, not equal numbers of slices', async () => {
    const { work, done } = createWorld();
    const all = [
      ...Array.from({ length: 4 }, () => work('dear', { slices: 25, ms: 10 })),
      ...Array.from({ length: 4 }, () => work('cheap', { slices: 25, ms: 1 })),
    ];
    await Promise.all(all);
    const early = done.slice(0, 55);
    expect(early.filter((tenant) => tenant === 'cheap').length).toBeGreaterThan(45);
    expect(early.filter((tenant) => tenant === 'dear').length).toBeGreaterThan(3);
  });

  it('let nobody save time up while there was nothing to do', async () => {
    const { work, done } = createWorld();
    const busy = Array.from({ length: 3 }, () => work('busy', { slices: 10, ms: 5 }));
    await work('late', { slices: 1, ms: 1 });
    while (done.length < 20) await new Promise((resolve) => setImmediate(resolve));
    const since = done.length;
    await Promise.all([
      ...busy,
      work('late', { slices: 5, ms: 5 }),
      work('late', { slices: 5, ms: 5 }),
    ]);
    const share = done.slice(since, since + 8);
    expect(share.filter((tenant) => tenant === 'busy').length).toBeGreaterThanOrEqual(3);
  });

  it('keep the order of arrival within a tenant, and cost nothing alone', async () => {
    const turns = new LoopTurns();
    const order: number[] = [];
    await Promise.all([1, 2, 3, 4].map((each) => turns.take('a').then(() => order.push(each))));
    expect(order).toEqual([1, 2, 3, 4]);
  });
});
