import { describe, expect } from 'vitest';
import { live, test } from '../../../billing-api/testing/clocked-lives.js';

const DAYS = 365;

const lives: Readonly<Record<string, string[]>>[] = [];

describe('a year of phases, families, addons, grants, cards, pauses and endings', () => {
  test.for([1, 12, 73, DAYS])(
    'leaves the same in %i steps of the clock as in any other number, byte for byte',
    { timeout: 3_600_000 },
    async (steps, { api, advance, world }) => {
      const begunAt = performance.now();
      const life = await live({ api, advance, world }, { days: DAYS, steps, arePaid: true });
      const seconds = Math.round((performance.now() - begunAt) / 1000);
      const counts = Object.entries(life).map(([kind, items]) => `${items.length} ${kind}`);
      // The figures are what a long run is for.
      console.log(`${steps} steps, ${seconds} s: ${counts.join(', ')}`);
      expect(life['invoices']?.length).toBeGreaterThan(100);
      lives.push(life);
      expect(life).toEqual(lives[0]);
    },
  );
});
