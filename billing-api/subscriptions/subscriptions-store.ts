import { sql } from 'slonik';
import { assertPresent } from '../../runtime/failure.js';
import type { InstantMs } from '../../contract/instant.js';
import { SUBSCRIPTION } from '../domain/lifecycle/subscription-lifecycle.js';
import {
  allOf,
  isDue,
  isInGroup,
  isOfEnvironment,
  isOneOf,
  isPublished,
} from '../records/conditions.js';
import type { Transaction } from '../records/unit.js';
import { INVOICES, type InvoiceRow } from '../declarations/invoices/invoice.resource.js';
import { LINE_ITEMS, type LineItemRow } from '../declarations/subscriptions/line-item.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';

export async function findSubscription(
  transaction: Transaction,
  id: string,
): Promise<SubscriptionRow | null> {
  return transaction.maybeOne(sql.type(SUBSCRIPTIONS.row)`
    SELECT * FROM subscriptions WHERE id = ${id} AND ${isOfEnvironment}`);
}

/** The last invoice of each of these subscriptions that has one, by subscription. */
export async function findLatestInvoices(
  transaction: Transaction,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, InvoiceRow>> {
  const rows = await transaction.any(sql.type(INVOICES.row)`
    SELECT DISTINCT ON (subscription_id) * FROM invoices
    WHERE subscription_id = ANY (${sql.array([...subscriptionIds], 'text')}) AND ${isOfEnvironment}
    ORDER BY subscription_id, billing_sequence DESC NULLS LAST, created_at DESC, id DESC`);
  return new Map(
    rows.map((row) => [assertPresent(row.subscription_id, 'the subscription of an invoice'), row]),
  );
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

/**
 * Subscriptions of a customer that are active or in their trial and have started, oldest first;
 * only these ids, when they are given. Where there are more than the limit, the rest is left out.
 */
export async function findLiveSubscriptions(
  transaction: Transaction,
  query: {
    readonly customerId: string;
    readonly ids: readonly string[] | undefined;
    readonly now: InstantMs;
    readonly limit: number;
  },
): Promise<readonly SubscriptionRow[]> {
  const conditions = allOf([
    ...isPublished,
    ...isInGroup('subscription_status', SUBSCRIPTION, 'running'),
    ...isDue(['start_date'], query.now),
    ...isOneOf('id', query.ids),
  ]);
  return transaction.any(sql.type(SUBSCRIPTIONS.row)`
    SELECT * FROM subscriptions
    WHERE customer_id = ${query.customerId} AND ${conditions} AND ${isOfEnvironment}
    ORDER BY created_at, id LIMIT ${query.limit}`);
}

export async function findLineItem(
  transaction: Transaction,
  id: string,
): Promise<LineItemRow | null> {
  return transaction.maybeOne(sql.type(LINE_ITEMS.row)`
    SELECT * FROM subscription_line_items WHERE id = ${id} AND ${isOfEnvironment}`);
}

/** The line items of these subscriptions, in line order (docs/domain.md 1); all without a limit. */
export async function findLineItems(
  transaction: Transaction,
  subscriptionIds: readonly string[],
  limit: number | null = null,
): Promise<readonly LineItemRow[]> {
  if (subscriptionIds.length === 0) return [];
  return transaction.any(sql.type(LINE_ITEMS.row)`
    SELECT * FROM subscription_line_items
    WHERE subscription_id = ANY (${sql.array([...subscriptionIds], 'text')})
      AND status = 'published' AND ${isOfEnvironment}
    ORDER BY created_at, id LIMIT ${limit}`);
}
