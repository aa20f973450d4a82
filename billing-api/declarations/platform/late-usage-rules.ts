import { z } from 'zod';
import { Decimal, parseRequestDecimal } from '../../../contract/number/decimal.js';
import type { DecimalText } from '../../records/record-dto.js';
import { givenOf, type MemberReader } from '../../records/member-rules.js';

const AGE_DAYS_MAX = 3_650;

const LEAST_PROBLEM = 'must be a decimal number of 0 or more as text, such as "1.00"';

function isLeastAmount(text: string): boolean {
  const value = parseRequestDecimal(text);
  return value instanceof Decimal && value.greaterThanOrEqualTo(0);
}

/** What is done about usage that comes after the invoice of its period (docs/domain.md 13.8). */
export const lateUsageRules = z
  .object({
    policy: z.enum(['bill', 'report', 'reopen']),
    max_age_days: z.number().int().min(0).max(AGE_DAYS_MAX),
    least_amount: z.string().refine(isLeastAmount, { message: LEAST_PROBLEM }),
  })
  .strict();
export type LateUsageRules = z.output<typeof lateUsageRules>;

/**
 * What is done about usage that comes after the invoice of its period, in place of the setting
 * `late_usage`, which has what is left out.
 */
export interface LateUsageRulesDto {
  /** `bill`: on the next invoice; `report`: listed alone; `reopen`: listed to be voided. */
  policy?: 'bill' | 'report' | 'reopen';
  /**
   * Days between the end of the period and that of the invoice which charges it.
   * @isInt
   * @minimum 0
   * @maximum 3650
   */
  max_age_days?: number;
  /** A smaller difference of a period waits. */
  least_amount?: DecimalText;
}

/** What a plan or a subscription says of late usage; the setting has what it leaves out. */
export const givenLateUsage = lateUsageRules
  .partial()
  .transform((given): LateUsageRulesDto => givenOf(given));

/** The member as it is stored; what is left out of it is absent. */
export function readLateUsage(
  reader: MemberReader,
  given: LateUsageRulesDto | null | undefined,
): LateUsageRulesDto | null {
  if (given === null || given === undefined) return null;
  const { least_amount: least } = given;
  if (least !== undefined && !isLeastAmount(least)) {
    reader.note('late_usage.least_amount', LEAST_PROBLEM);
  }
  return givenLateUsage.parse(
    least === undefined || isLeastAmount(least) ? given : { ...given, least_amount: '0' },
  );
}
