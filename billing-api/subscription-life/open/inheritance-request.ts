import type { MemberReader } from '../../records/member-rules.js';
import type { CreateSubscriptionBody } from './create-subscription-body.js';

/** How a subscription stands to others (docs/domain.md 29). */
export interface InheritanceBody {
  /** Another customer, who receives and pays the invoices of the subscription. @maxLength 255 */
  invoicing_customer_external_id?: string;
  /** The subscription inherits from this one, which bills its customer's usage. */
  parent_subscription_id?: string;
  /**
   * Customers who get a subscription that inherits from this one, by their external ids.
   * @maxItems 1000
   */
  external_customer_ids_to_inherit_subscription?: string[];
  /**
   * Subscriptions that the invoices of this one bill.
   * @maxItems 100
   */
  grouped_invoicing_child_ids?: string[];
}

/** What a request says of other subscriptions and customers. */
export type RequestedInheritance = {
  /** Who pays, by its external id; null where the customer pays itself. */
  readonly payer: string | null;
  readonly parentId: string | null;
  /** Customers who inherit, by their external ids. */
  readonly heirs: readonly string[];
  /** Subscriptions that are billed with it. */
  readonly grouped: readonly string[];
};

/** What a request that names a parent may give; all else is that of the parent. */
const OF_CHILD = new Set([
  'customer_id',
  'external_customer_id',
  'plan_id',
  'currency',
  'billing_period',
  'billing_period_count',
  'billing_cadence',
  'billing_cycle',
  'proration_behavior',
  'lookup_key',
  'metadata',
  'inheritance',
]);

/** Members of `inheritance` that stand alone. */
const ALONE = ['parent_subscription_id', 'invoicing_customer_external_id'];

/** What does not go with the members of `inheritance` that are given. */
function checkBeside(
  reader: MemberReader,
  body: CreateSubscriptionBody,
  names: readonly string[],
): void {
  if (body.auto_invoice_threshold !== undefined) {
    const problem = 'goes with standalone subscriptions only; leave out inheritance';
    reader.note('auto_invoice_threshold', problem);
  }
  for (const name of ALONE.filter((one) => names.includes(one) && names.length > 1)) {
    reader.note(`inheritance.${name}`, 'cannot be combined with the other members');
  }
  if (body.subscription_status === 'draft' && !names.includes('invoicing_customer_external_id')) {
    reader.note('subscription_status', 'must be left out: what has others with it is no draft');
  }
}

function checkChild(reader: MemberReader, body: CreateSubscriptionBody): void {
  for (const [name, value] of Object.entries(body)) {
    const isAbsent = value === undefined || value === false;
    if (!isAbsent && !OF_CHILD.has(name)) {
      reader.note(name, 'must be left out: an inherited subscription has what its parent has');
    }
  }
}

function checkMembers(reader: MemberReader, body: CreateSubscriptionBody): void {
  const given = Object.entries(body.inheritance ?? {}).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name);
  if (names.length > 0) checkBeside(reader, body, names);
  if (names.includes('parent_subscription_id')) checkChild(reader, body);
}

export function readInheritance(
  reader: MemberReader,
  body: CreateSubscriptionBody,
): RequestedInheritance {
  checkMembers(reader, body);
  const {
    invoicing_customer_external_id: payer = null,
    parent_subscription_id: parentId = null,
    external_customer_ids_to_inherit_subscription: heirs = [],
    grouped_invoicing_child_ids: grouped = [],
  } = body.inheritance ?? {};
  if (new Set(heirs).size < heirs.length) {
    const member = 'inheritance.external_customer_ids_to_inherit_subscription';
    reader.note(member, 'must name each customer once');
  }
  if (new Set(grouped).size < grouped.length) {
    const member = 'inheritance.grouped_invoicing_child_ids';
    reader.note(member, 'must name each subscription once');
  }
  return { payer, parentId, heirs, grouped };
}
