import { describe, expect } from 'vitest';
import { live, test } from '../../../billing-api/testing/clocked-lives.js';

const DAYS = 365;

const lives: Readonly<Record<string, string[]>>[] = [];

describe('a year of phases, families, addons, grants, cards, pauses and endings', () => {
  test.for([1, 12, 73, DAYS])(
    'leaves the same in %i steps of the clock as in any other number, byte for byte',
    async (steps, { api, advance, world }) => {
      const life = await live({ api, advance, world }, { days: DAYS, steps });
      expect(life['invoices']?.length).toBeGreaterThan(100);
      lives.push(life);
      expect(life).toEqual(lives[0]);
    },
  );
});
