import { z } from 'zod';
import { buildInvoice } from '../../../billing-api/domain/invoice/build/build-invoice.js';
import type { InvoiceInputs } from '../../../billing-api/domain/invoice/invoice.js';
import { resultBytes } from './result-bytes.js';

/** A kept invoice: its inputs as they were stored, and every byte of what they made. */
export const goldenInvoice = z.object({
  /** What this invoice shows and those kept before it do not; it was kept for that. */
  about: z.array(z.string()),
  snapshot: z.string(),
  result: z.string(),
});
export type GoldenInvoice = z.infer<typeof goldenInvoice>;

/** Every byte of an invoice: lines, totals and traces. */
export function bytesOf(inputs: InvoiceInputs): string {
  return resultBytes(buildInvoice(inputs));
}
