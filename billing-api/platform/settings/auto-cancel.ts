import { z } from 'zod';
import { givenOf } from '../../records/member-rules.js';
import type { ReadUnit } from '../../records/unit.js';
import { findSetting } from './settings-store.js';

const DAYS_MAX = 365;

/** The setting `subscription_auto_cancel`: when an overdue subscription is cancelled. */
export const autoCancel = z
  .object({ enabled: z.boolean(), grace_period_days: z.number().int().min(0).max(DAYS_MAX) })
  .strict();
export type AutoCancel = z.output<typeof autoCancel>;

/** The grace period stands in `list_billing_due` of sql/migrations too. */
export const DEFAULT_AUTO_CANCEL: AutoCancel = { enabled: false, grace_period_days: 3 };

/** The setting of an environment, complete. */
export async function findAutoCancel(unit: ReadUnit): Promise<AutoCancel> {
  const stored = await findSetting(unit, 'subscription_auto_cancel');
  return { ...DEFAULT_AUTO_CANCEL, ...givenOf(autoCancel.partial().parse(stored ?? {})) };
}
