import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BodyBudget } from './body-budget.js';

describe('the budget of bodies in flight', () => {
  test('refuses bytes that exceed it and counts none of them', () => {
    const budget = new BodyBudget(10_000);
    const lease = budget.lease();
    const overhead = budget.bytesHeld;
    expect(lease?.grow(10_000 - overhead)).toBe(true);
    expect(lease?.grow(1)).toBe(false);
    expect(budget.lease()).toBeNull();
    expect(budget.bytesHeld).toBe(10_000);
    lease?.release();
    expect(budget.bytesHeld).toBe(0);
  });

  test('counts a released lease until its hold ends', () => {
    const budget = new BodyBudget(10_000);
    const lease = budget.lease();
    const endHold = lease?.hold();
    lease?.release();
    expect(budget.bytesHeld).toBeGreaterThan(0);
    endHold?.();
    expect(budget.bytesHeld).toBe(0);
  });

  test('is never exceeded, and empty when every lease is released', () => {
    const step = fc.record({ grow: fc.nat(4_000), isHeld: fc.boolean(), isTwice: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const budget = new BodyBudget(20_000);
        const closers: (() => void)[] = [];
        for (const { grow, isHeld, isTwice } of steps) {
          const lease = budget.lease();
          if (lease === null) continue;
          lease.grow(grow);
          expect(budget.bytesHeld).toBeLessThanOrEqual(20_000);
          if (isHeld) closers.push(lease.hold());
          closers.push(lease.release);
          if (isTwice) closers.push(lease.release);
        }
        for (const close of closers) close();
        expect(budget.bytesHeld).toBe(0);
      }),
    );
  });
});
