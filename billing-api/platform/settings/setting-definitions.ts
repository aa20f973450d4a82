import { z } from 'zod';
import { Decimal, parseRequestDecimal } from '../../../contract/number/decimal.js';
import { lateUsageRules } from '../../declarations/platform/late-usage-rules.js';
import { autoCancel, DEFAULT_AUTO_CANCEL } from './auto-cancel.js';
import { DEFAULT_INVOICE_CONFIG, invoiceConfig } from './invoice-config.js';
import { DEFAULT_LATE_USAGE } from './late-usage.js';
import { DEFAULT_PAYMENT_RETRIES, paymentRetries } from './payment-retries.js';
import { DEFAULT_TENANT_LIMITS, tenantLimits } from './tenant-limits.js';

const SLABS_MAX = 100;

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

/** Every setting with its values and defaults (docs/http.md 2.2). */
const SETTINGS: Readonly<Record<string, Definition>> = {
  invoice_config: {
    schema: invoiceConfig.partial(),
    defaults: DEFAULT_INVOICE_CONFIG,
  },
  subscription_auto_cancel: {
    schema: autoCancel.partial(),
    defaults: DEFAULT_AUTO_CANCEL,
  },
  payment_retries: {
    schema: paymentRetries.partial(),
    defaults: DEFAULT_PAYMENT_RETRIES,
  },
  late_usage: { schema: lateUsageRules.partial(), defaults: DEFAULT_LATE_USAGE },
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
