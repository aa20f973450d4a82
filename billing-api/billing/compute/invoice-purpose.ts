import { z } from 'zod';
import { DUE_DAYS_DEFAULT, netDaysOf } from '../../domain/invoice/build/due-date.js';
import type { InvoiceInputs } from '../../domain/invoice/invoice.js';
import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { findSetting } from '../../platform/settings/settings-store.js';
import type { ReadUnit } from '../../records/unit.js';

/**
 * What an invoice is computed for: everything among its inputs that depends on the occasion, and
 * not on the subscription or on usage.
 */
export type InvoicePurpose = Pick<
  InvoiceInputs,
  'referencePoint' | 'alreadyInvoiced' | 'priorCommitments' | 'wallets' | 'dueDays'
> & {
  /**
   * Applications of a coupon on other invoices, by its association (docs/domain.md 14.4); an
   * association without an entry was never applied.
   */
  readonly couponApplicationCounts: ReadonlyMap<string, number>;
};

/**
 * A look at a period as it stands now. Invoices are not stored yet, so nothing was invoiced, used
 * or applied before; and wallets have no operations yet, so none pays (docs/domain.md 13.1).
 */
export function previewPurpose(dueDays: number): InvoicePurpose {
  return {
    referencePoint: 'period_end',
    alreadyInvoiced: [],
    priorCommitments: [],
    couponApplicationCounts: new Map(),
    wallets: [],
    dueDays,
  };
}

const dueDaysSetting = z.object({ due_date_days: z.number().int().optional() });

/**
 * Days until the invoices of each subscription are due (docs/domain.md 16): by its payment terms,
 * else by the setting `invoice_config`.
 */
export async function findDueDays(
  unit: ReadUnit,
  subscriptions: readonly Pick<SubscriptionRow, 'id' | 'payment_terms'>[],
): Promise<ReadonlyMap<string, number>> {
  const agreed = subscriptions.map(
    ({ id, payment_terms: terms }) => [id, netDaysOf(terms)] as const,
  );
  const isSettingNeeded = agreed.some(([, days]) => days === null);
  const byDefault = isSettingNeeded ? await findDefaultDueDays(unit) : DUE_DAYS_DEFAULT;
  return new Map(agreed.map(([id, days]) => [id, days ?? byDefault]));
}

async function findDefaultDueDays(unit: ReadUnit): Promise<number> {
  const setting = dueDaysSetting.parse((await findSetting(unit, 'invoice_config')) ?? {});
  return setting.due_date_days ?? DUE_DAYS_DEFAULT;
}
