import { z } from 'zod';
import { givenOf } from '../../records/member-rules.js';
import type { ReadUnit } from '../../records/unit.js';
import { findSetting } from './settings-store.js';

const RETRIES_MAX = 20;
const DAYS_MAX = 30;

/** The setting `payment_retries`: how often, and when, a declined charge is tried again. */
export const paymentRetries = z
  .object({
    max_retries: z.number().int().min(0).max(RETRIES_MAX),
    interval_days: z.number().int().min(1).max(DAYS_MAX),
  })
  .strict();
export type PaymentRetries = z.output<typeof paymentRetries>;

export const DEFAULT_PAYMENT_RETRIES: PaymentRetries = { max_retries: 3, interval_days: 3 };

/** The setting of an environment, complete. */
export async function findPaymentRetries(unit: ReadUnit): Promise<PaymentRetries> {
  const stored = await findSetting(unit, 'payment_retries');
  return { ...DEFAULT_PAYMENT_RETRIES, ...givenOf(paymentRetries.partial().parse(stored ?? {})) };
}
