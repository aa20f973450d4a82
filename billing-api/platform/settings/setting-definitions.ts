import { z } from 'zod';
import { Decimal, parseRequestDecimal } from '../../../contract/decimal.js';
import { timezoneNamed } from '../../domain/calendar/local-time.js';
import { DEFAULT_TENANT_LIMITS, tenantLimits } from './tenant-limits.js';

const DAYS_MAX = 365;
/** 30 days: an invoice that waits longer would meet the next one. */
const DELAY_SECONDS_MAX = 30 * 86_400;
const SLABS_MAX = 100;

const days = z.number().int().min(0).max(DAYS_MAX);

const timezone = z.string().transform((text, context) => {
  const name = timezoneNamed(text);
  if (name !== null) return name;
  const message = 'must be a time zone of the IANA database, such as Europe/Berlin';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

const decimal = z.string().refine(
  (text) => {
    const value = parseRequestDecimal(text);
    return value instanceof Decimal && value.greaterThanOrEqualTo(0);
  },
  { message: 'must be a decimal number of 0 or more as text, such as "12.50"' },
);

const slab = z
  .object({ threshold: decimal, type: z.enum(['flat', 'percentage']), value: decimal })
  .strict();

/** The greatest threshold that is reached decides, so no two may be equal. */
const slabs = z
  .array(slab)
  .max(SLABS_MAX)
  .refine(
    (list) =>
      new Set(list.map(({ threshold }) => new Decimal(threshold).toFixed())).size === list.length,
    { message: 'must not have the same threshold twice' },
  );

type Definition = {
  /** Checks a value and completes its spelling; every member is optional. */
  readonly schema: z.ZodType<Readonly<Record<string, unknown>>, z.ZodTypeDef, unknown>;
  readonly defaults: Readonly<Record<string, unknown>>;
};

const invoiceConfig = z
  .object({
    prefix: z.string().regex(/^[A-Za-z0-9]{1,20}$/, 'must be 1 to 20 letters or digits'),
    format: z.enum(['YYYYMM', 'YYYYMMDD', 'YYMMDD', 'YY', 'YYYY']),
    start_sequence: z.number().int().min(1).max(1_000_000_000),
    timezone,
    separator: z.string().regex(/^[-_./]?$/, 'must be -, _, ., / or an empty text'),
    suffix_length: z.number().int().min(1).max(10),
    due_date_days: days,
    finalization_delay_seconds: z.number().int().min(0).max(DELAY_SECONDS_MAX),
    auto_complete_purchased_credit_transaction: z.boolean(),
  })
  .strict();

const autoCancel = z.object({ enabled: z.boolean(), grace_period_days: days }).strict();

/** Every setting with its values and defaults (docs/http.md 2.2). */
const SETTINGS: Readonly<Record<string, Definition>> = {
  invoice_config: {
    schema: invoiceConfig.partial(),
    defaults: {
      prefix: 'INV',
      format: 'YYYYMM',
      start_sequence: 1,
      timezone: 'UTC',
      separator: '-',
      suffix_length: 5,
      due_date_days: 1,
      finalization_delay_seconds: 7_200,
      auto_complete_purchased_credit_transaction: false,
    },
  },
  subscription_auto_cancel: {
    schema: autoCancel.partial(),
    defaults: { enabled: false, grace_period_days: 3 },
  },
  wallet_bonus: { schema: z.object({ slabs }).strict().partial(), defaults: { slabs: [] } },
  event_rejected: {
    schema: z.object({ enabled: z.boolean() }).strict().partial(),
    defaults: { enabled: false },
  },
  tenant_limits: { schema: tenantLimits.partial(), defaults: DEFAULT_TENANT_LIMITS },
};

/** The definition of a setting; null for an unknown key. */
export function settingNamed(key: string): Definition | null {
  return Object.hasOwn(SETTINGS, key) ? (SETTINGS[key] ?? null) : null;
}
