import { describe, expect, it } from 'vitest';
import type { FigureName, Round } from './figures.js';
import { medianOf, spreadText } from '../median.js';
import { findingsOf, legendOf, tableOf } from './summary.js';

function round(bareSingles: number, figures: Partial<Record<FigureName, number>>): Round {
  const bare = { singles: bareSingles, singlesP99: 5, bulk: 10 * bareSingles };
  const turn = { figures, accepted: 0, notes: [] };
  return { bare, products: new Map([['PostgreSQL', turn]]) };
}

function verdictOf(rounds: readonly Round[], what: string): boolean | null | undefined {
  const found = findingsOf(rounds, ['PostgreSQL']).find((each) => each.what.endsWith(what));
  return found?.isReached;
}

describe('the table "To beat"', () => {
  it('has the median of the rounds with the least and the greatest', () => {
    expect(medianOf([3, 1, 2])).toBe(2);
    expect(medianOf([4, 1])).toBe(2.5);
    expect(spreadText([12_000, 9_000, 30_000])).toBe('12,000 (9,000..30,000)');
    expect(spreadText([])).toBe('no figure');
  });

  it('judges a rate by what it is not below, and anything else by what it is not above', () => {
    const rounds = [round(50_000, { singles: 12_000, month: 7.1 })];
    expect(verdictOf(rounds, 'single POST, 64 connections')).toBe(true);
    expect(verdictOf(rounds, 'a customer’s month among 10⁶ events, p50')).toBe(false);
    expect(verdictOf([round(50_000, { singles: 11_999 })], 'single POST, 64 connections')).toBe(
      false,
    );
  });

  it('never calls a figure reached that no round has', () => {
    expect(verdictOf([round(50_000, {})], 'accepted to visible at 2,000 ev/s, p50')).toBe(false);
  });

  it('shows the ratio and the scaled rate of each round, and judges by neither', () => {
    const slow = [round(10_000, { singles: 4_000 }), round(20_000, { singles: 6_000 })];
    const { head, rows } = tableOf(slow, ['PostgreSQL']);
    const [singles = []] = rows;
    expect(head).toEqual([
      'work',
      'bare node:http',
      'PostgreSQL',
      'of bare',
      'scaled',
      '',
      'to reach',
    ]);
    // 0.4 and 0.3 of bare; 19,800 and 14,850 on the reference.
    expect(singles.slice(3)).toEqual(['0.350', '17,325', 'missed', '≥ 12,000 events/s']);
    expect(legendOf(slow)).toContain('here 15,000');
  });
});
