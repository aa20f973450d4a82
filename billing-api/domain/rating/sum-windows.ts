import { ZERO, type Decimal } from '../../../contract/number/decimal.js';
import { applyCommitment, type CommitmentSplit } from '../commitment/apply-commitment.js';
import type { PricedWindow, WindowCommitment, WindowRule } from './priced-window.js';
import { windowCharge } from './window-charge.js';

/** Windows of one rule that are all within their commitment, or all beyond it. */
type Side = { usage: Decimal; count: number };

/** How often one amount occurs, and the side it belongs to. */
type Recurring = { readonly side: Side; count: number };

type RuleSums = {
  readonly within: Side;
  readonly beyond: Side;
  /** Keyed by the amount's identity, because equal counts share one amount (`createCharger`). */
  readonly recurring: Map<Decimal, Recurring>;
};

/** Bounds the amounts that are counted; further amounts are added one by one. */
const RECURRING_MAX = 1_000;

const NOTHING: CommitmentSplit = {
  utilized: ZERO,
  overageBase: ZERO,
  overage: ZERO,
  trueUp: ZERO,
  charge: ZERO,
};

function plus(left: CommitmentSplit, right: CommitmentSplit): CommitmentSplit {
  return {
    utilized: left.utilized.plus(right.utilized),
    overageBase: left.overageBase.plus(right.overageBase),
    overage: left.overage.plus(right.overage),
    trueUp: left.trueUp.plus(right.trueUp),
    charge: left.charge.plus(right.charge),
  };
}

function plainSum(usage: Decimal): CommitmentSplit {
  return { ...NOTHING, utilized: usage, charge: usage };
}

/** The charge of n windows on one side equals that of their sum under n times the commitment. */
function sideSum({ usage, count }: Side, committed: WindowCommitment | null): CommitmentSplit {
  if (committed === null) return plainSum(usage);
  const { amount, overageFactor, isTrueUpEnabled: isTrueUpDue } = committed;
  const available = amount.times(count);
  return applyCommitment(usage, { available, overageFactor, isTrueUpDue });
}

function add(side: Side, amount: Decimal, count: number): void {
  side.usage = side.usage.plus(count === 1 ? amount : amount.times(count));
  side.count += count;
}

/** Adds an amount that occurs for the first time. */
function addAmount(of: RuleSums, amount: Decimal, { committed }: WindowRule): void {
  const isBeyond = committed !== null && amount.greaterThan(committed.amount);
  const side = isBeyond ? of.beyond : of.within;
  if (of.recurring.size < RECURRING_MAX) of.recurring.set(amount, { side, count: 1 });
  else add(side, amount, 1);
}

/**
 * The charge of all windows of a line: the sum of their `windowCharge`, but computed once per rule
 * and side of the commitment, because a month has 43,200 minutes. Cut windows have a scaled
 * commitment each and are added one by one.
 */
export function sumWindows(windows: readonly PricedWindow[]): CommitmentSplit {
  const sums = new Map<WindowRule, RuleSums>();
  let total = NOTHING;
  for (const window of windows) {
    const { rule, usageAmount } = window;
    if (window.scale !== null) {
      total = plus(total, windowCharge(window));
      continue;
    }
    let of = sums.get(rule);
    if (of === undefined) {
      of = {
        within: { usage: ZERO, count: 0 },
        beyond: { usage: ZERO, count: 0 },
        recurring: new Map(),
      };
      sums.set(rule, of);
    }
    const known = of.recurring.get(usageAmount);
    if (known === undefined) addAmount(of, usageAmount, rule);
    else known.count += 1;
  }
  for (const [rule, of] of sums) {
    for (const [amount, { side, count }] of of.recurring) add(side, amount, count);
    total = plus(total, sideSum(of.within, rule.committed));
    total = plus(total, sideSum(of.beyond, rule.committed));
  }
  return total;
}
