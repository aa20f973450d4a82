import { expect, test, vi } from 'vitest';
import { reusedFor } from './reused.js';

test('many who ask at once, and within the time, share one computation', async () => {
  const compute = vi.fn(() => Promise.resolve(Symbol('result')));
  const ask = reusedFor(60_000, compute);
  const results = await Promise.all(Array.from({ length: 50 }, ask));
  results.push(await ask());
  expect([new Set(results).size, compute.mock.calls.length]).toEqual([1, 1]);
});

test('it is computed again when the time is over', async () => {
  const compute = vi.fn(() => Promise.resolve());
  const ask = reusedFor(0, compute);
  await ask();
  await ask();
  expect(compute).toHaveBeenCalledTimes(2);
});

test('a failure is told to who waits for it, and not kept', async () => {
  const compute = vi.fn(() => Promise.resolve('well'));
  compute.mockRejectedValueOnce(new Error('ill'));
  const ask = reusedFor(60_000, compute);
  await expect(ask()).rejects.toThrow('ill');
  expect(await ask()).toBe('well');
});
