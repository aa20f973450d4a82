import { describe, expect, it } from 'vitest';
import { createLazy } from './lazy.js';

describe('createLazy', () => {
  it('opens once, at the first use, and closes what it opened', async () => {
    const calls: string[] = [];
    const thing = { close: () => Promise.resolve(void calls.push('close')) };
    const lazy = createLazy(() => {
      calls.push('open');
      return Promise.resolve(thing);
    });
    expect(calls).toEqual([]);
    expect(await Promise.all([lazy.get(), lazy.get()])).toEqual([thing, thing]);
    await lazy.close();
    expect(calls).toEqual(['open', 'close']);
  });

  it('closes nothing when it was never used', async () => {
    const lazy = createLazy(() => Promise.reject(new Error('never opened')));
    await lazy.close();
  });

  it('tries again after a failure', async () => {
    const answers = [Promise.reject(new Error('away')), Promise.resolve({ close: async () => {} })];
    answers[0]?.catch(() => undefined);
    const lazy = createLazy(() => answers.shift() ?? Promise.reject(new Error('too often')));
    await expect(lazy.get()).rejects.toThrow('away');
    await expect(lazy.get()).resolves.toHaveProperty('close');
  });
});
