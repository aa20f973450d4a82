import { sql } from 'slonik';
import { z } from 'zod';
import { groupBy } from '../../runtime/group-by.js';
import { instantColumn } from '../../sql/columns.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../domain/lifecycle/subscription-lifecycle.js';
import type { UsageOwner } from '../domain/usage/usage-owner.js';
import { isOfEnvironment, rowIsIn, rowIsOfEnvironment } from '../records/conditions.js';
import type { StatementUnit } from '../records/unit.js';

/** The subscription whose plan, periods and lines count: for an inherited one its parent. */
export function ruledBy(
  row: Pick<SubscriptionRow, 'id' | 'subscription_type' | 'parent_subscription_id'>,
): string {
  const parent = row.subscription_type === 'inherited' ? row.parent_subscription_id : null;
  return parent ?? row.id;
}

/** How a child stands to its parent (docs/domain.md 29). */
export type ChildType = 'inherited' | 'grouped_invoicing';

/** The children of subscriptions that are not cancelled, locked, in the order of their ids. */
export function lockChildren(
  { tx }: StatementUnit,
  parentIds: readonly string[],
  type: ChildType,
): Promise<readonly SubscriptionRow[]> {
  return tx.any(sql.type(SUBSCRIPTIONS.row)`
    SELECT * FROM subscriptions
    WHERE parent_subscription_id = ANY (${sql.array([...parentIds], 'text')})
      AND subscription_type = ${type} AND status = 'published'
      AND ${rowIsIn(['subscription_status'], SUBSCRIPTION, 'alive')} AND ${isOfEnvironment}
    ORDER BY id FOR NO KEY UPDATE`);
}

/** The ids of the grouped children that the invoices of a subscription bill, in their order. */
export async function findGroupedIds(
  { tx }: StatementUnit,
  parentId: string,
): Promise<readonly string[]> {
  const rows = await tx.any(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM subscriptions
    WHERE parent_subscription_id = ${parentId} AND subscription_type = 'grouped_invoicing'
      AND status = 'published' AND ${rowIsIn(['subscription_status'], SUBSCRIPTION, 'alive')}
      AND ${isOfEnvironment}
    ORDER BY id`);
  return rows.map(({ id }) => id);
}

/** The external ids of the customers who inherit from a subscription now. */
export async function findHeirs(
  { tx }: StatementUnit,
  parentId: string,
): Promise<readonly string[]> {
  const rows = await tx.any(sql.type(z.object({ external_id: z.string() }))`
    SELECT customer.external_id FROM subscriptions AS child
    JOIN customers AS customer ON customer.id = child.customer_id
      AND ${rowIsOfEnvironment('customer')}
    WHERE child.parent_subscription_id = ${parentId} AND child.subscription_type = 'inherited'
      AND child.status = 'published'
      AND ${rowIsIn(['child', 'subscription_status'], SUBSCRIPTION, 'alive')}
      AND ${rowIsOfEnvironment('child')}
    ORDER BY child.start_date, child.id`);
  return rows.map((row) => row.external_id);
}

const memberRow = z.object({
  subscription_id: z.string(),
  customer_id: z.string(),
  external_id: z.string(),
  parent_start: instantColumn,
  start_date: instantColumn,
  end_date: instantColumn.nullable(),
});
type MemberRow = z.output<typeof memberRow>;

/** A customer counts in the times in which it has a child; from the start on without a limit. */
function ownerOf([first, ...others]: readonly [MemberRow, ...MemberRow[]]): UsageOwner {
  const { customer_id: customerId, external_id: externalId } = first;
  const isUnlimited = first.end_date === null && first.start_date <= first.parent_start;
  if (isUnlimited) return { customerId, externalId };
  const spans = [first, ...others].map((row) => ({
    startMs: row.start_date,
    endMs: row.end_date ?? Infinity,
  }));
  return { customerId, externalId, spans };
}

/**
 * Whose usage belongs to each of these subscriptions: that of its own customer, and that of its
 * inherited children while they are its children (docs/domain.md 29.1). Children are named in the
 * order in which they came. One statement for all.
 */
export async function findUsageOwners(
  { tx }: StatementUnit,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly UsageOwner[]>> {
  const ids = sql.array([...new Set(subscriptionIds)], 'text');
  const rows = await tx.any(sql.type(memberRow)`
    SELECT member.subscription_id, customer.id AS customer_id, customer.external_id,
      member.parent_start, member.start_date, member.end_date
    FROM (
      SELECT own.id AS subscription_id, own.id AS member_id, own.customer_id,
        own.start_date AS parent_start, own.start_date, own.end_date
      FROM subscriptions AS own WHERE own.id = ANY (${ids}) AND ${rowIsOfEnvironment('own')}
      UNION ALL
      SELECT parent.id, child.id, child.customer_id, parent.start_date, child.start_date,
        child.end_date
      FROM subscriptions AS parent
      JOIN subscriptions AS child ON child.parent_subscription_id = parent.id
        AND child.subscription_type = 'inherited' AND ${rowIsOfEnvironment('child')}
      WHERE parent.id = ANY (${ids}) AND ${rowIsOfEnvironment('parent')}
    ) AS member
    JOIN customers AS customer ON customer.id = member.customer_id
      AND ${rowIsOfEnvironment('customer')}
    ORDER BY member.subscription_id, member.member_id <> member.subscription_id,
      member.start_date, member.member_id`);
  const members = groupBy(rows, (row) => row.subscription_id);
  return new Map(
    [...members].map(([id, ofOne]) => {
      const [own, ...children] = ofOne;
      const byCustomer = [...groupBy(children, (row) => row.customer_id).values()];
      const owners = byCustomer.flatMap(([first, ...others]) =>
        first === undefined ? [] : [ownerOf([first, ...others])],
      );
      const itself =
        own === undefined ? [] : [{ customerId: own.customer_id, externalId: own.external_id }];
      return [id, [...itself, ...owners]];
    }),
  );
}
