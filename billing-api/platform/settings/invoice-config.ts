import { z } from 'zod';
import { timezoneNamed } from '../../domain/calendar/local-time.js';
import { givenOf } from '../../records/member-rules.js';
import type { ReadUnit } from '../../records/unit.js';
import { findSetting } from './settings-store.js';

const DAYS_MAX = 365;
/** 30 days: an invoice that waits longer would meet the next one. */
const DELAY_SECONDS_MAX = 30 * 86_400;

const timezone = z.string().transform((text, context) => {
  const name = timezoneNamed(text);
  if (name !== null) return name;
  const message = 'must be a time zone of the IANA database, such as Europe/Berlin';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** The setting `invoice_config`: how invoices are numbered, and when they are final and due. */
export const invoiceConfig = z
  .object({
    prefix: z.string().regex(/^[A-Za-z0-9]{1,20}$/, 'must be 1 to 20 letters or digits'),
    format: z.enum(['YYYYMM', 'YYYYMMDD', 'YYMMDD', 'YY', 'YYYY']),
    start_sequence: z.number().int().min(1).max(1_000_000_000),
    timezone,
    separator: z.string().regex(/^[-_./]?$/, 'must be -, _, ., / or an empty text'),
    suffix_length: z.number().int().min(1).max(10),
    due_date_days: z.number().int().min(0).max(DAYS_MAX),
    finalization_delay_seconds: z.number().int().min(0).max(DELAY_SECONDS_MAX),
    auto_complete_purchased_credit_transaction: z.boolean(),
  })
  .strict();
export type InvoiceConfig = z.output<typeof invoiceConfig>;

export const DEFAULT_INVOICE_CONFIG: InvoiceConfig = {
  prefix: 'INV',
  format: 'YYYYMM',
  start_sequence: 1,
  timezone: 'UTC',
  separator: '-',
  suffix_length: 5,
  due_date_days: 1,
  finalization_delay_seconds: 7_200,
  auto_complete_purchased_credit_transaction: false,
};

/** The setting of an environment, complete. */
export async function findInvoiceConfig(unit: ReadUnit): Promise<InvoiceConfig> {
  const stored = await findSetting(unit, 'invoice_config');
  return { ...DEFAULT_INVOICE_CONFIG, ...givenOf(invoiceConfig.partial().parse(stored ?? {})) };
}
