import { sql } from 'slonik';
import { isOfEnvironment } from '../records/conditions.js';
import { lockRecords } from '../records/find-record.js';
import type { Transaction } from '../records/unit.js';
import { LINE_ITEMS, type LineItemRow } from './line-item.resource.js';
import { SUBSCRIPTIONS, type SubscriptionRow } from './subscription.resource.js';

export async function findSubscription(
  transaction: Transaction,
  id: string,
): Promise<SubscriptionRow | null> {
  return transaction.maybeOne(sql.type(SUBSCRIPTIONS.row)`
    SELECT * FROM subscriptions WHERE id = ${id} AND ${isOfEnvironment}`);
}

/** Locks subscriptions in the order of their ids; nobody else changes them then. */
export function lockSubscriptions(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SubscriptionRow>> {
  return lockRecords({ tx: transaction }, SUBSCRIPTIONS, ids);
}

/** The subscriptions of a customer that are or were in force, oldest first. */
export async function findSubscriptionsOfCustomer(
  transaction: Transaction,
  customerId: string,
): Promise<readonly SubscriptionRow[]> {
  return transaction.any(sql.type(SUBSCRIPTIONS.row)`
    SELECT * FROM subscriptions
    WHERE customer_id = ${customerId} AND status = 'published' AND subscription_status <> 'draft'
      AND ${isOfEnvironment}
    ORDER BY created_at, id`);
}

export async function findLineItem(
  transaction: Transaction,
  id: string,
): Promise<LineItemRow | null> {
  return transaction.maybeOne(sql.type(LINE_ITEMS.row)`
    SELECT * FROM subscription_line_items WHERE id = ${id} AND ${isOfEnvironment}`);
}

/** The line items of these subscriptions, in line order (docs/domain.md 1). */
export async function findLineItems(
  transaction: Transaction,
  subscriptionIds: readonly string[],
): Promise<readonly LineItemRow[]> {
  if (subscriptionIds.length === 0) return [];
  return transaction.any(sql.type(LINE_ITEMS.row)`
    SELECT * FROM subscription_line_items
    WHERE subscription_id = ANY (${sql.array([...subscriptionIds], 'text')})
      AND status = 'published' AND ${isOfEnvironment}
    ORDER BY created_at, id`);
}
