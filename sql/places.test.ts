import { describe, expect, it } from 'vitest';
import { createPlaces } from './places.js';

const never = (): Promise<never> => new Promise(() => undefined);

describe('places', () => {
  it('let so many in at a time, and the others in the order in which they came', async () => {
    const places = createPlaces(2, 10_000);
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const works = [0, 1, 2, 3].map((each) =>
      places('', () => {
        begun.push(each);
        return new Promise<void>((resolve) => ends.push(resolve));
      }),
    );
    expect(begun).toEqual([0, 1]);
    ends[1]?.();
    await works[1];
    expect(begun).toEqual([0, 1, 2]);
    ends[0]?.();
    await works[0];
    expect(begun).toEqual([0, 1, 2, 3]);
  });

  it('turn away who has waited too long, and let the next in when one fails', async () => {
    const places = createPlaces(1, 20);
    const failing = places('', async () => {
      await expect(places('', never)).rejects.toMatchObject({
        name: 'DependencyError',
        isRetryable: true,
      });
      throw new Error('of the work');
    });
    await expect(failing).rejects.toThrow('of the work');
    expect(await places('', () => Promise.resolve(7))).toBe(7);
  });

  it('let no tenant have more than half, and take turns tenant by tenant', async () => {
    const places = createPlaces(4, 10_000);
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const work = (tenant: string): Promise<void> =>
      places(tenant, () => {
        begun.push(tenant);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const all = ['a', 'a', 'a', 'a', 'a', 'b', 'b', ''].map(work);
    expect(begun).toEqual(['a', 'a', 'b', 'b']);
    while (ends.length > 0) {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(all);
    expect(begun).toEqual(['a', 'a', 'b', 'b', 'a', '', 'a', 'a']);
    const alone = Array.from({ length: 5 }, () => work(''));
    expect(begun.length).toBe(8 + 4);
    while (ends.length > 0) {
      ends.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(alone);
  });
});
