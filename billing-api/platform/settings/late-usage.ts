import {
  givenLateUsage,
  type LateUsageRules,
  type LateUsageRulesDto,
} from '../../declarations/platform/late-usage-rules.js';
import type { ReadUnit } from '../../records/unit.js';
import { findSetting } from './settings-store.js';

/**
 * Late usage is charged, because who has used something owes it, and a quarter is what accounts are
 * closed by. An installation that has billed before lists it only (docs/domain.md 13.8).
 */
export const DEFAULT_LATE_USAGE: LateUsageRules = {
  policy: 'bill',
  max_age_days: 90,
  least_amount: '0',
};

/** The rules that the most specific of these says, the first of which is the most specific. */
export function lateUsageOf(
  environment: LateUsageRules,
  given: readonly (LateUsageRulesDto | null)[],
): LateUsageRules {
  return given.reduceRight<LateUsageRules>((rules, one) => ({ ...rules, ...one }), environment);
}

/** The setting of an environment, complete. */
export async function findLateUsageRules(unit: ReadUnit): Promise<LateUsageRules> {
  const stored = await findSetting(unit, 'late_usage');
  return { ...DEFAULT_LATE_USAGE, ...givenLateUsage.parse(stored ?? {}) };
}
