import { assertPresent } from '../../../runtime/failure.js';
import {
  ANSWERED_CUSTOMERS,
  type AnsweredCustomerRow,
} from '../../declarations/customers/customer.resource.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { lockRecord } from '../../records/find-record.js';
import { accept, invalid, notFound, type Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { lockCustomers, parentRefusal, storeChildren } from './inherit.js';

/** What a request says that names a parent. */
export type JoinRequest = {
  readonly parentId: string;
  readonly customerId: string | null;
  readonly externalCustomerId: string | null;
  readonly planId: string;
  readonly currency: string;
  readonly billingPeriod: string;
  readonly billingPeriodCount: number;
  readonly lookupKey: string | null;
  readonly metadata: SubscriptionRow['metadata'];
};

async function lockNamed(
  unit: Unit,
  { customerId, externalCustomerId }: JoinRequest,
): Promise<AnsweredCustomerRow> {
  if (customerId === null) {
    const name = assertPresent(externalCustomerId, 'the name of the customer');
    const found = await lockCustomers(unit, [name]);
    return assertPresent(found[0], 'the customer');
  }
  const customer = await lockRecord(unit, ANSWERED_CUSTOMERS, customerId);
  return accept(
    customer?.status === 'published' ? customer : notFound(ANSWERED_CUSTOMERS.name, customerId),
  );
}

/** The members that a request must give, and that are those of the parent. */
function termsRefusal(parent: SubscriptionRow, request: JoinRequest): Refusal | null {
  const own = [
    ['plan_id', request.planId, parent.plan_id],
    ['currency', request.currency, parent.currency],
    ['billing_period', request.billingPeriod, parent.billing_period],
    ['billing_period_count', request.billingPeriodCount, parent.billing_period_count],
  ] as const;
  const wrong = own.find(([, given, wanted]) => given !== wanted);
  if (wrong === undefined) return null;
  const [member, , wanted] = wrong;
  return invalid({ [member]: `must be ${wanted}, that of the parent subscription` });
}

/** POST /subscriptions with a parent: an inherited subscription of it, from now on (29.1). */
export async function joinParent(unit: Unit, request: JoinRequest): Promise<SubscriptionRow> {
  const parent = await lockRecord(unit, SUBSCRIPTIONS, request.parentId);
  if (parent?.status !== 'published')
    throw new Refused(notFound(SUBSCRIPTIONS.name, request.parentId));
  const customer = await lockNamed(unit, request);
  accept(parentRefusal(parent) ?? termsRefusal(parent, request));
  const { lookupKey, metadata } = request;
  const child = { customer, lookupKey, metadata };
  const startMs = Math.max(unit.now, parent.start_date);
  const stored = await storeChildren(unit, parent, { children: [child], startMs });
  return assertPresent(stored.children[0], 'the child');
}
