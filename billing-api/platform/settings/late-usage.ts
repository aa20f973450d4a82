import { z } from 'zod';
import { Decimal, parseRequestDecimal } from '../../../contract/number/decimal.js';
import { givenOf } from '../../records/member-rules.js';
import type { ReadUnit } from '../../records/unit.js';
import { findSetting } from './settings-store.js';

const AGE_DAYS_MAX = 3_650;

const leastAmount = z.string().refine(
  (text) => {
    const value = parseRequestDecimal(text);
    return value instanceof Decimal && value.greaterThanOrEqualTo(0);
  },
  { message: 'must be a decimal number of 0 or more as text, such as "1.00"' },
);

/** What is done about usage that comes after the invoice of its period (docs/domain.md 13.8). */
export const lateUsageRules = z
  .object({
    policy: z.enum(['bill', 'report', 'reopen']),
    max_age_days: z.number().int().min(0).max(AGE_DAYS_MAX),
    least_amount: leastAmount,
  })
  .strict();
export type LateUsageRules = z.output<typeof lateUsageRules>;

export const DEFAULT_LATE_USAGE: LateUsageRules = {
  policy: 'bill',
  max_age_days: 90,
  least_amount: '0',
};

/** The rules of the most specific of those that say anything: each says all that it wants. */
export function lateUsageOf(
  environment: LateUsageRules,
  given: readonly unknown[],
): LateUsageRules {
  const specific = given.find((one) => one !== null && one !== undefined);
  if (specific === undefined) return environment;
  return { ...environment, ...givenOf(lateUsageRules.partial().parse(specific)) };
}

/** The setting of an environment, complete. */
export async function findLateUsageRules(unit: ReadUnit): Promise<LateUsageRules> {
  const stored = await findSetting(unit, 'late_usage');
  return { ...DEFAULT_LATE_USAGE, ...givenOf(lateUsageRules.partial().parse(stored ?? {})) };
}
