import { describe, expect } from 'vitest';
import { live, test } from '../../testing/clocked-lives.js';

const DAYS = 45;

const lives: Readonly<Record<string, string[]>>[] = [];

describe('six weeks of phases, families, addons, grants, cards, pauses and endings', () => {
  test.for([1, 9])(
    'leave the same in %i steps of the clock as in any other number, byte for byte',
    { timeout: 300_000 },
    async (steps, { api, advance, world }) => {
      const life = await live({ api, advance, world }, { days: DAYS, steps });
      expect(life['invoices']?.length).toBeGreaterThan(30);
      lives.push(life);
      expect(life).toEqual(lives[0]);
    },
  );
});
