import { z } from 'zod';

const DAYS_MAX = 365;

/** The setting `subscription_auto_cancel`: when an overdue subscription is cancelled. */
export const autoCancel = z
  .object({ enabled: z.boolean(), grace_period_days: z.number().int().min(0).max(DAYS_MAX) })
  .strict();
export type AutoCancel = z.output<typeof autoCancel>;

/** The grace period stands in sql/functions/due_cancellation.sql too. */
export const DEFAULT_AUTO_CANCEL: AutoCancel = { enabled: false, grace_period_days: 3 };
