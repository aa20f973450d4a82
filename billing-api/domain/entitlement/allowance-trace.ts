import type { Decimal } from '../../../contract/number/decimal.js';
import type { InstantMs } from '../../../contract/instant.js';
import type { UsageResetPeriod } from './entitlement.js';

/** How an allowance lowered the billed quantity of a line (docs/domain.md 10.2). */
export type AllowanceTrace = {
  /** Null means unlimited: nothing is billed, and there are no windows. */
  readonly limit: Decimal | null;
  readonly resetPeriod: UsageResetPeriod | null;
  /** Reset windows that meet the usage window, in the order of time. */
  readonly windows: readonly AllowanceWindow[];
};

/** One reset window of an allowance, before and after a line. */
export type AllowanceWindow = {
  /** Null: with all of the history, as of a meter that never resets. */
  readonly startMs: InstantMs | null;
  /** Null: without an end, as an allowance that never resets. */
  readonly endMs: InstantMs | null;
  /** Usage of the window before the line, including that of other lines which share it. */
  readonly usedBefore: Decimal;
  readonly usedUntil: Decimal;
  /** What was left for the line. */
  readonly free: Decimal;
};
