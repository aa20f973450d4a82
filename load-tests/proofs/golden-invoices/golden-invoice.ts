import { z } from 'zod';
import { rulesOf } from '../../../billing-api/domain/invoice/pricing/rules.js';
import type { InvoiceSnapshot } from '../../../billing-api/domain/invoice/snapshot/invoice-snapshot.js';
import { resultBytes } from './result-bytes.js';

/** A kept invoice: its inputs as they were stored, and every byte of what they made. */
export const goldenInvoice = z.object({
  /** What this invoice shows and those kept before it do not; it was kept for that. */
  about: z.array(z.string()),
  snapshot: z.string(),
  result: z.string(),
});
export type GoldenInvoice = z.infer<typeof goldenInvoice>;

/** Every byte of an invoice by the rules of its version: lines, totals and traces. */
export function bytesOf({
  inputs,
  rulesVersion,
}: Pick<InvoiceSnapshot, 'inputs' | 'rulesVersion'>): string {
  return resultBytes(rulesOf(rulesVersion).buildInvoice(inputs));
}
