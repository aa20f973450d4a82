import { sql } from 'slonik';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type { PeriodLedger } from '../../domain/periods/period-ledger.js';
import { findPeriods } from '../../subscriptions/periods/periods-store.js';
import { ledgerFrom } from '../../subscriptions/subscription-terms.js';
import type { LineItemRow } from '../../declarations/subscriptions/line-item.resource.js';
import { findLineItems } from '../../subscriptions/subscriptions-store.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { isOfEnvironment, rowIsOfEnvironment } from '../../records/conditions.js';
import { CUSTOMERS, type CustomerRow } from '../../declarations/customers/customer.resource.js';
import type { Transaction } from '../../records/unit.js';

/** The customers that an event's customer key belongs to, whatever their status. */
export async function findCustomersOfKey(
  transaction: Transaction,
  customerKey: string,
): Promise<readonly CustomerRow[]> {
  const text = customerKey.slice(2);
  const isExternal = customerKey.startsWith('e:');
  return transaction.any(sql.type(CUSTOMERS.row)`
    SELECT * FROM customers
    WHERE ${isOfEnvironment}
      AND ((${isExternal} AND external_id = ${text}) OR (NOT ${isExternal} AND id = ${text}))
    ORDER BY created_at, id`);
}

export type MeteredLine = {
  readonly ledger: PeriodLedger;
  readonly item: LineItemRow;
};

/**
 * The line items that price one of these meters: of these customers' subscriptions, and of those
 * that they inherit from at an instant (docs/domain.md 29.1).
 */
export async function findMeteredLines(
  transaction: Transaction,
  customerIds: readonly string[],
  { meterIds, atMs }: { readonly meterIds: readonly string[]; readonly atMs: InstantMs },
): Promise<readonly MeteredLine[]> {
  if (customerIds.length === 0 || meterIds.length === 0) return [];
  const customers = sql.array([...customerIds], 'text');
  const at = formatInstant(atMs);
  const subscriptions = await transaction.any(sql.type(SUBSCRIPTIONS.row)`
    SELECT * FROM subscriptions
    WHERE id IN (
        SELECT own.id FROM subscriptions AS own
        WHERE own.customer_id = ANY (${customers}) AND ${rowIsOfEnvironment('own')}
        UNION SELECT child.parent_subscription_id FROM subscriptions AS child
        WHERE child.customer_id = ANY (${customers}) AND child.subscription_type = 'inherited'
          AND child.start_date <= ${at}::timestamptz
          AND (child.end_date IS NULL OR child.end_date > ${at}::timestamptz)
          AND ${rowIsOfEnvironment('child')})
      AND status = 'published' AND subscription_status <> 'draft' AND ${isOfEnvironment}
    ORDER BY created_at, id`);
  const byId = new Map(subscriptions.map((subscription) => [subscription.id, subscription]));
  const items = await findLineItems(transaction, [...byId.keys()]);
  const periods = await findPeriods(transaction, [...byId.keys()]);
  const meters = new Set(meterIds);
  return items.flatMap((item) => {
    const subscription = byId.get(item.subscription_id);
    const isPriced = item.meter_id !== null && meters.has(item.meter_id);
    if (subscription === undefined || !isPriced) return [];
    return [{ ledger: ledgerFrom(subscription, periods.get(subscription.id)), item }];
  });
}
