import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  BodyBudget,
  REQUEST_OVERHEAD_BYTES as OVERHEAD,
  SMALL_BODY_BYTES_MAX as SMALL,
  type BodyLease,
} from './body-budget.js';

const BODY = 1_000_000;
/** Of these a tenant that is alone may hold two. */
const SMALL_TOTAL = 10 * (SMALL + OVERHEAD);

function createBudget(): BodyBudget {
  return new BodyBudget({ bodyBytesMax: BODY, smallBytesMax: SMALL_TOTAL });
}

/** A lease that must be there. */
function leaseOf(budget: BodyBudget, tenant: string): BodyLease {
  const lease = budget.lease(tenant);
  if (lease === null) throw new Error(`there is no room for ${tenant}`);
  return lease;
}

describe('the budget of bodies in flight', () => {
  test('has room for the largest body of two tenants at once', () => {
    const budget = createBudget();
    const [first, second] = [leaseOf(budget, 'a'), leaseOf(budget, 'b')];
    expect(first.grow(BODY)).toBe(true);
    expect(second.grow(BODY)).toBe(true);
    expect(second.grow(1)).toBe(false);
    for (const lease of [first, second]) lease.release();
    expect(budget.bytesHeld).toBe(0);
  });

  test('lends one tenant half of it, and not a byte more', () => {
    const budget = createBudget();
    const half = (3 * (BODY + OVERHEAD)) / 2;
    const lease = leaseOf(budget, 'a');
    expect(lease.grow(half - OVERHEAD + 1)).toBe(false);
    expect(budget.bytesHeld).toBe(OVERHEAD);
    expect(lease.grow(half - OVERHEAD)).toBe(true);
    expect(lease.grow(1)).toBe(false);
    expect(budget.bytesHeld).toBe(half);
  });

  test('counts all requests of a tenant together', () => {
    const budget = createBudget();
    expect(leaseOf(budget, 'a').grow(BODY)).toBe(true);
    expect(leaseOf(budget, 'a').grow(BODY)).toBe(false);
    expect(leaseOf(budget, 'b').grow(BODY)).toBe(true);
  });

  test('keeps memory for small bodies that larger ones never take', () => {
    const budget = createBudget();
    const large = Array.from({ length: 40 }, (_, index) => leaseOf(budget, `large-${index}`));
    for (const lease of large) while (lease.grow(SMALL + 1));
    const small = leaseOf(budget, 'small');
    expect(small.grow(SMALL)).toBe(true);
    expect(small.grow(1)).toBe(false);
    small.release();
    for (const lease of large) lease.release();
    expect(budget.bytesHeld).toBe(0);
  });

  test('lends a small body other memory when that of small bodies is used up', () => {
    const budget = createBudget();
    const leases = Array.from({ length: 10 }, () => leaseOf(budget, 'a'));
    for (const lease of leases) expect(lease.grow(SMALL)).toBe(true);
    expect(leaseOf(budget, 'b').grow(SMALL)).toBe(true);
    for (const lease of leases) lease.release();
    expect(budget.bytesHeld).toBe(SMALL + OVERHEAD);
  });

  test('serves small bodies of one more tenant after ten that take all they can', () => {
    const budget = createBudget();
    for (let index = 0; index < 10; index += 1) {
      const large = leaseOf(budget, `large-${index}`);
      while (large.grow(SMALL + 1));
    }
    let leases = 0;
    for (let index = 0; index < 10; index += 1) {
      while (budget.lease(`many-${index}`) !== null) leases += 1;
    }
    expect(leases * OVERHEAD).toBeGreaterThan(SMALL_TOTAL / 2);
    const newcomer = leaseOf(budget, 'newcomer');
    expect(newcomer.grow(SMALL_TOTAL / 100)).toBe(true);
  });

  test('counts a released lease until its hold ends', () => {
    const budget = createBudget();
    const lease = leaseOf(budget, 'a');
    const endHold = lease.hold();
    lease.release();
    expect(budget.bytesHeld).toBeGreaterThan(0);
    endHold();
    expect(budget.bytesHeld).toBe(0);
  });

  const step = fc.record({
    tenant: fc.constantFrom('a', 'b', 'c'),
    grow: fc.array(fc.nat(800_000), { maxLength: 3 }),
    isHeld: fc.boolean(),
    isTwice: fc.boolean(),
  });

  test('always serves a tenant that holds nothing, and is empty when all is released', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const budget = createBudget();
        const closers: (() => void)[] = [];
        for (const { tenant, grow, isHeld, isTwice } of steps) {
          const lease = budget.lease(tenant);
          if (lease === null) continue;
          for (const bytes of grow) lease.grow(bytes);
          const newcomer = leaseOf(budget, 'newcomer');
          // Three others that take all they can leave an eighth, and the newcomer half of that.
          expect(newcomer.grow((3 * BODY) / 16 - OVERHEAD)).toBe(true);
          newcomer.release();
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
