import { ZERO, maxOf, minOf, type Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import type { AllowanceTrace, AllowanceWindow } from './allowance-trace.js';
import type { BucketUsage, LineUsage } from '../usage/line-usage.js';
import {
  billedOf,
  freeOf,
  lifetimeUsedBefore,
  openPool,
  poolAfter,
  usedBefore,
  type AllowancePool,
  type PoolDraw,
} from './allowance-pool.js';
import type { BilledUsage } from './billed-usage.js';
import { inBucketOrder } from './bucket-order.js';
import { consumeBuckets } from './consume-buckets.js';
import type { LineAllowance, ResetWindow } from './line-allowance.js';

/** A usage line with its usage. */
export type UsedLine = {
  readonly meterId: string;
  /** Identifies the events of the meter that the line counts: a text of its filter values. */
  readonly stream: string;
  /** The usage window. */
  readonly window: Interval;
  readonly allowance: LineAllowance | null;
  readonly usage: LineUsage;
};

/** All time: the quantity of a meter that never resets contains all of its history. */
const ALL_TIME: ResetWindow = {
  window: { startMs: -Infinity, endMs: Infinity },
  before: null,
  until: { startMs: -Infinity, endMs: Infinity },
};

function resetWindowsOf({ allowance }: UsedLine): readonly ResetWindow[] {
  if (allowance === null || allowance.limit === null) return [];
  return allowance.windows.length === 0 ? [ALL_TIME] : allowance.windows;
}

function isSame(left: Interval, right: Interval): boolean {
  return left.startMs === right.startMs && left.endMs === right.endMs;
}

/** @throws TypeError when no usage was read for the interval; that must never become a 0. */
function usageIn({ usage, window }: UsedLine, interval: Interval): Decimal {
  if (isSame(interval, window) || interval === ALL_TIME.until) return usage.usage;
  const found = usage.intervals.find((one) => isSame(one.interval, interval));
  if (found === undefined) throw new TypeError('no usage was read for an allowance window');
  return found.usage;
}

function drawOf(line: UsedLine, { before }: ResetWindow): PoolDraw {
  const { stream, window } = line;
  return { stream, line: window, before: before === null ? ZERO : usageIn(line, before) };
}

/** The pools of one meter by the start of their reset window. */
type Pools = Map<number, AllowancePool>;

function poolsOf(lines: readonly UsedLine[]): Pools {
  const draws = new Map<number, PoolDraw[]>();
  for (const line of lines) {
    for (const reset of resetWindowsOf(line)) {
      const { startMs } = reset.window;
      const known = draws.get(startMs);
      if (known === undefined) draws.set(startMs, [drawOf(line, reset)]);
      else known.push(drawOf(line, reset));
    }
  }
  return new Map([...draws].map(([startMs, of]) => [startMs, openPool(of)]));
}

/** The billed part of a line's usage in one reset window. */
type WindowBill = { readonly trace: AllowanceWindow; readonly billed: Decimal };

type Bill = { readonly billed: Decimal; readonly windows: readonly AllowanceWindow[] };

/** The instant; null for one that is never reached. */
function finite(instant: InstantMs): InstantMs | null {
  return Number.isFinite(instant) ? instant : null;
}

/** Bills each reset window of a line; `usageOf` returns the usage of a window. */
function walk(
  line: UsedLine & { readonly limit: Decimal },
  pools: Pools,
  usageOf: (
    reset: ResetWindow,
    found: { readonly before: Decimal; readonly free: Decimal },
  ) => Decimal,
): Bill {
  const bills = resetWindowsOf(line).map((reset): WindowBill => {
    const { window } = reset;
    const draw = drawOf(line, reset);
    const pool = mustGet(pools, window.startMs, 'the allowance of a reset window');
    const used = (reset === ALL_TIME ? lifetimeUsedBefore : usedBefore)(pool, draw);
    const free = freeOf(line.limit, used);
    const usage = usageOf(reset, { before: draw.before, free });
    pools.set(window.startMs, poolAfter(pool, draw, usage));
    return {
      billed: billedOf(line.limit, used, usage),
      trace: {
        startMs: finite(window.startMs),
        endMs: finite(window.endMs),
        usedBefore: used,
        usedUntil: used.plus(usage),
        free,
      },
    };
  });
  const sum = bills.reduce((total, { billed }) => total.plus(billed), ZERO);
  const billed = minOf(maxOf(ZERO, sum), line.usage.usage);
  return { billed, windows: bills.map(({ trace }) => trace) };
}

function bucketsIn(buckets: readonly BucketUsage[], { window }: ResetWindow) {
  return buckets.filter(({ startMs }) => window.startMs <= startMs && startMs < window.endMs);
}

/**
 * A bucket, or a part of one that `cutBuckets` made, belongs to the reset window in which it
 * begins: the value of a MAX cannot be divided.
 */
function billBuckets(
  line: UsedLine & { readonly limit: Decimal },
  buckets: readonly BucketUsage[],
  pools: Pools,
): Bill & { readonly left: readonly BucketUsage[] } {
  const left: BucketUsage[] = [];
  const bill = walk(line, pools, (reset, { free }) => {
    const consumed = consumeBuckets(bucketsIn(buckets, reset), free);
    left.push(...consumed.left);
    return consumed.usage;
  });
  return { ...bill, left };
}

function billLine(line: UsedLine, pools: Pools): BilledUsage {
  const { allowance, usage } = line;
  const buckets = usage.buckets === null ? null : inBucketOrder(usage.buckets);
  if (allowance === null) return { quantity: usage.usage, buckets, allowance: null };
  const { limit, resetPeriod } = allowance;
  const traceOf = (windows: readonly AllowanceWindow[]): AllowanceTrace => ({
    limit,
    resetPeriod,
    windows,
  });
  if (limit === null) {
    return { quantity: ZERO, buckets: buckets === null ? null : [], allowance: traceOf([]) };
  }
  const limited = { ...line, limit };
  if (buckets !== null) {
    const { billed, windows, left } = billBuckets(limited, buckets, pools);
    return { quantity: billed, buckets: left, allowance: traceOf(windows) };
  }
  const { billed, windows } = walk(limited, pools, (reset, { before }) =>
    usageIn(line, reset.until).minus(before),
  );
  return { quantity: billed, buckets: null, allowance: traceOf(windows) };
}

/**
 * The part of each line's usage that is billed (docs/domain.md 10.2). Lines of one meter share its
 * allowance: a line that begins earlier takes from it first, then it goes by line order. Usage
 * beyond an allowance is billed in the reset window in which it happened. Lines that count the same
 * events take from the allowance once for each event. When one line follows another, earlier usage
 * has used up its part. When both exist at the same time, an event is free or billed on both alike.
 */
export function applyAllowances(lines: readonly UsedLine[]): readonly BilledUsage[] {
  const meterIds = new Set(lines.map(({ meterId }) => meterId));
  const pools = new Map(
    [...meterIds].map((id) => [id, poolsOf(lines.filter(({ meterId }) => meterId === id))]),
  );
  const bills = new Map<UsedLine, BilledUsage>();
  for (const line of lines.toSorted((a, b) => a.window.startMs - b.window.startMs)) {
    bills.set(line, billLine(line, mustGet(pools, line.meterId, 'the allowance of a meter')));
  }
  return lines.map((line) => mustGet(bills, line, 'the billed usage of a line'));
}
