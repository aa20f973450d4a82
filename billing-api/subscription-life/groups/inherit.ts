import { sql } from 'slonik';
import type { InstantMs } from '../../../contract/instant.js';
import { mustGet } from '../../../runtime/failure.js';
import {
  ANSWERED_CUSTOMERS,
  type AnsweredCustomerRow,
} from '../../declarations/customers/customer.resource.js';
import {
  SUBSCRIPTIONS,
  type NewSubscriptionRow,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { isOfEnvironment, rowIsIn } from '../../records/conditions.js';
import { createRecord } from '../../records/create-record.js';
import type { MetadataDto } from '../../records/record-dto.js';
import { notFound, Refusal, Refused } from '../../records/refusal.js';
import { updateRecord } from '../../records/change-record.js';
import type { Unit } from '../../records/unit.js';
import { lockChildren } from '../../subscriptions/children-store.js';
import { announceNewSubscription } from '../../subscriptions/subscription-events.js';

/** Their usage is read with that of their parent, in one statement. */
export const CHILDREN_MAX = 1_000;

/** Who joins a parent, and what its subscription says of itself. */
export type NewChild = {
  readonly customer: AnsweredCustomerRow;
  readonly lookupKey?: string | null;
  readonly metadata?: MetadataDto;
};

/** The published customers with these external ids, locked, in the order of the list. */
export async function lockCustomers(
  unit: Unit,
  externalIds: readonly string[],
): Promise<readonly AnsweredCustomerRow[]> {
  if (externalIds.length === 0) return [];
  const rows = await unit.tx.any(sql.type(ANSWERED_CUSTOMERS.row)`
    SELECT ${ANSWERED_CUSTOMERS.selected} FROM customers
    WHERE external_id = ANY (${sql.array([...externalIds], 'text')}) AND status = 'published'
      AND ${isOfEnvironment}
    ORDER BY id FOR NO KEY UPDATE`);
  const found = new Map(rows.map((row) => [row.external_id, row]));
  const unknown = externalIds.find((id) => !found.has(id));
  if (unknown !== undefined) throw new Refused(notFound(ANSWERED_CUSTOMERS.name, unknown));
  return externalIds.map((id) => mustGet(found, id, 'a customer'));
}

/** One subscription of these customers that is not cancelled; null when there is none. */
function findAlive({ tx }: Unit, customerIds: readonly string[], isInherited: boolean) {
  return tx.maybeOne(sql.type(SUBSCRIPTIONS.row)`
    SELECT * FROM subscriptions
    WHERE customer_id = ANY (${sql.array([...customerIds], 'text')})
      AND (NOT ${isInherited}::bool OR subscription_type = 'inherited')
      AND ${rowIsIn(['subscription_status'], SUBSCRIPTION, 'alive')} AND ${isOfEnvironment}
    ORDER BY created_at, id LIMIT 1`);
}

/** @throws Refused when a customer cannot have a subscription of its own (docs/domain.md 29.1). */
export async function refuseBesideInherited(unit: Unit, customerId: string): Promise<void> {
  const inherited = await findAlive(unit, [customerId], true);
  if (inherited === null) return;
  const problem = `customer ${customerId} has the inherited subscription ${inherited.id}, whose parent bills its usage`;
  throw new Refused(
    new Refusal(
      'invalid_operation',
      `${problem}; name the customer in inheritance_params.remove of that parent first`,
    ),
  );
}

/** An inherited subscription has the terms of its parent, and neither lines nor a commitment. */
function childOf(
  parent: SubscriptionRow,
  { customer, lookupKey = null, metadata = {} }: NewChild,
  startMs: InstantMs,
): NewSubscriptionRow {
  const { id } = parent;
  return {
    ...parent,
    customer_id: customer.id,
    invoicing_customer_id: null,
    parent_subscription_id: id,
    subscription_type: 'inherited',
    lookup_key: lookupKey,
    metadata,
    start_date: startMs,
    version: 1,
    commitment_amount: null,
    commitment_duration: null,
    overage_factor: null,
    commitment_start: null,
    commitment_origin_id: null,
    enable_true_up: false,
    auto_invoice_threshold: null,
    late_usage: null,
    gateway_payment_method_id: null,
  };
}

async function refuseJoin(
  unit: Unit,
  parent: SubscriptionRow,
  children: readonly NewChild[],
): Promise<void> {
  const ids = children.map(({ customer }) => customer.id);
  if (ids.includes(parent.customer_id)) {
    const itself = `customer ${parent.customer_id} has the parent subscription itself`;
    throw new Refused(new Refusal('invalid_operation', itself));
  }
  const held = await findAlive(unit, ids, false);
  if (held !== null) {
    const problem = `customer ${held.customer_id} has subscription ${held.id}, which would bill its usage as well`;
    throw new Refused(new Refusal('invalid_operation', `${problem}; cancel it first`));
  }
  const others = await lockChildren(unit, [parent.id], 'inherited');
  if (others.length + children.length <= CHILDREN_MAX) return;
  throw new Refused(
    new Refusal('invalid_operation', `a subscription has at most ${CHILDREN_MAX} children`),
  );
}

/**
 * Stores inherited subscriptions of locked customers to a locked parent, which becomes one by it,
 * and tells of each (docs/domain.md 29.1).
 */
export async function storeChildren(
  unit: Unit,
  parent: SubscriptionRow,
  { children, startMs }: { readonly children: readonly NewChild[]; readonly startMs: InstantMs },
): Promise<{ readonly parent: SubscriptionRow; readonly children: readonly SubscriptionRow[] }> {
  await refuseJoin(unit, parent, children);
  const stored: SubscriptionRow[] = [];
  for (const child of children) {
    const id = unit.newId(SUBSCRIPTIONS.idPrefix);
    const row = await createRecord(unit, SUBSCRIPTIONS, {
      ...childOf(parent, child, startMs),
      id,
    });
    announceNewSubscription(unit, row, child.customer);
    stored.push(row);
  }
  const marked = await markParent(unit, parent);
  return { parent: marked, children: stored };
}

/** A subscription with children is a parent. */
export async function markParent(unit: Unit, row: SubscriptionRow): Promise<SubscriptionRow> {
  if (row.subscription_type === 'parent') return row;
  return updateRecord(unit, SUBSCRIPTIONS, { row, patch: { subscription_type: 'parent' } });
}

/** A parent whose last child has left is standalone again. */
export async function unmarkParent(unit: Unit, row: SubscriptionRow): Promise<SubscriptionRow> {
  if (row.subscription_type !== 'parent') return row;
  for (const type of ['inherited', 'grouped_invoicing'] as const) {
    if ((await lockChildren(unit, [row.id], type)).length > 0) return row;
  }
  return updateRecord(unit, SUBSCRIPTIONS, { row, patch: { subscription_type: 'standalone' } });
}

/** Why a subscription cannot have further children; null when it can. */
export function parentRefusal(row: SubscriptionRow): Refusal | null {
  const { subscription_type: type, subscription_status: status, id } = row;
  if (type !== 'standalone' && type !== 'parent') {
    const problem = `subscription ${id} is of type ${type}; only a standalone or parent one has children`;
    return new Refusal('invalid_operation', problem);
  }
  if (status !== 'active') {
    const problem = `subscription ${id} is ${status}; children join an active one`;
    return new Refusal('invalid_operation', problem);
  }
  if (row.auto_invoice_threshold === null) return null;
  const problem = `subscription ${id} has auto_invoice_threshold, which does not go with children; clear it first`;
  return new Refusal('invalid_operation', problem);
}
