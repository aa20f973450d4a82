import {
  payerOf,
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { isIn } from '../../domain/lifecycle/lifecycle.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { alignmentProblem } from '../../domain/periods/aligned-periods.js';
import { updateRecord } from '../../records/change-record.js';
import { lockRecord } from '../../records/find-record.js';
import { accept, notFound, Refusal, Refused } from '../../records/refusal.js';
import type { ReadUnit, Unit } from '../../records/unit.js';
import { endedPeriodRefusal } from '../../subscriptions/ended-period.js';
import { lockChildren } from '../../subscriptions/children-store.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';
import { markBilledWith, replaceLastPeriod } from '../../subscriptions/periods/periods-store.js';
import { releaseChild } from '../../subscriptions/release-groups.js';
import { refusePending } from '../../subscriptions/schedules-store.js';
import { announceUpdated } from '../../subscriptions/subscription-events.js';
import { lastRecorded } from '../../domain/periods/period-ledger.js';
import { markParent, parentRefusal, unmarkParent } from './inherit.js';
import { listsRefusal, type ChangedMember } from './modify-inheritance.js';

/** The lines of all of them stand on one invoice. */
const GROUPED_MAX = 100;

const invalidOperation = (problem: string): Refusal => new Refusal('invalid_operation', problem);

/** That a period which has ended is billed before its subscription joins or leaves a group. */
function endedRefusal(unit: Pick<ReadUnit, 'now'>, row: SubscriptionRow): Refusal | null {
  return row.current_period_end > unit.now ? null : endedPeriodRefusal(row);
}

/** Why the state of a subscription keeps it out of a group; null when it does not. */
function childProblem(row: SubscriptionRow, parent: SubscriptionRow): string | null {
  const { id, subscription_type: type, subscription_status: status } = row;
  if (type !== 'standalone') return `subscription ${id} is of type ${type}, not standalone`;
  if (!isIn(SUBSCRIPTION, 'running', status)) {
    return `subscription ${id} is ${status}, neither active nor trialing`;
  }
  if (row.auto_invoice_threshold !== null) {
    return `subscription ${id} has auto_invoice_threshold, which does not go with a group`;
  }
  if (row.active_pause_id !== null) return `subscription ${id} has a pause that is to come`;
  if (row.currency === parent.currency) return null;
  return `subscription ${id} is in ${row.currency}, not in ${parent.currency}`;
}

async function refuseChild(
  unit: Unit,
  child: BilledSubscription,
  parent: BilledSubscription,
): Promise<void> {
  const { subscription: row, terms } = child;
  const problem = childProblem(row, parent.subscription);
  if (problem !== null) throw new Refused(invalidOperation(problem));
  const parted = alignmentRefusal(parent, {
    subscription: row,
    terms: { ...terms, isGrouped: true },
  });
  accept(parted ?? endedRefusal(unit, row));
  await refusePending(unit, row.id);
}

/** That one invoice cannot bill both, because their periods do not end together. */
export function alignmentRefusal(
  parent: Pick<BilledSubscription, 'subscription' | 'terms'>,
  child: Pick<BilledSubscription, 'subscription' | 'terms'>,
): Refusal | null {
  const alignment = alignmentProblem(parent.terms, child.terms);
  if (alignment === null) return null;
  const both = `${parent.subscription.id} and ${child.subscription.id}`;
  return invalidOperation(`subscriptions ${both} are not billed together: ${alignment}`);
}

async function addChild(
  unit: Unit,
  parent: BilledSubscription,
  id: string,
): Promise<ChangedMember> {
  const row = await lockRecord(unit, SUBSCRIPTIONS, id);
  if (row?.status !== 'published') throw new Refused(notFound(SUBSCRIPTIONS.name, id));
  const child = await loadBilledSubscription(unit, id);
  await refuseChild(unit, child, parent);
  // A release that recorded no periods left the running one out.
  await replaceLastPeriod(unit, { subscriptionId: id, period: lastRecorded(child.terms) });
  const after = await joinGroup(unit, parent.subscription, row);
  return { row: after, action: 'updated' };
}

/** Lets the invoices of a locked parent bill a locked subscription from its running period on. */
export async function joinGroup(
  unit: Unit,
  parent: SubscriptionRow,
  row: SubscriptionRow,
): Promise<SubscriptionRow> {
  const { id } = row;
  const { id: parentId } = parent;
  await markBilledWith(unit, id, parentId);
  const payer = payerOf(parent);
  const patch = {
    ...({ subscription_type: 'grouped_invoicing', parent_subscription_id: parentId } as const),
    invoicing_customer_id: payer === row.customer_id ? null : payer,
  };
  const after = await updateRecord(unit, SUBSCRIPTIONS, { row, patch });
  await announceUpdated(unit, after);
  return after;
}

/** @throws Refused when a locked subscription cannot bill so many more. */
async function refuseGroup(unit: Unit, parent: SubscriptionRow, count: number): Promise<void> {
  accept(parentRefusal(parent) ?? endedRefusal(unit, parent));
  if (parent.active_pause_id !== null) {
    throw new Refused(invalidOperation(`subscription ${parent.id} has a pause, which ends first`));
  }
  const held = await lockChildren(unit, [parent.id], 'grouped_invoicing');
  if (held.length + count <= GROUPED_MAX) return;
  throw new Refused(invalidOperation(`a subscription has at most ${GROUPED_MAX} grouped children`));
}

/** Lets the invoices of a locked parent bill these subscriptions from their running periods on. */
export async function addToGroup(
  unit: Unit,
  parent: SubscriptionRow,
  ids: readonly string[],
): Promise<{ readonly parent: SubscriptionRow; readonly children: readonly ChangedMember[] }> {
  if (ids.length === 0) return { parent, children: [] };
  await refuseGroup(unit, parent, ids.length);
  const loaded = await loadBilledSubscription(unit, parent.id);
  const children: ChangedMember[] = [];
  for (const id of ids.toSorted()) {
    if (id === parent.id) throw new Refused(selfRefusal(id));
    children.push(await addChild(unit, loaded, id));
  }
  const marked = await markParent(unit, parent);
  return { parent: marked, children };
}

const selfRefusal = (id: string): Refusal =>
  invalidOperation(`subscription ${id} is the parent itself`);

async function removeFromGroup(
  unit: Unit,
  parentId: string,
  ids: readonly string[],
): Promise<readonly ChangedMember[]> {
  const rows = await lockChildren(unit, [parentId], 'grouped_invoicing');
  const children = new Map(rows.map((row) => [row.id, row]));
  const removed: ChangedMember[] = [];
  for (const id of ids) {
    const row = children.get(id);
    if (row === undefined) throw new Refused(notFound('grouped subscription', id));
    accept(endedRefusal(unit, row));
    const after = await releaseChild(unit, row);
    removed.push({ row: after, action: 'updated' });
  }
  return removed;
}

export interface GroupedInvoicingParamsBody {
  /** Subscriptions that the invoices of this one bill from now on. @maxItems 100 */
  add?: string[];
  /** Grouped subscriptions that are billed by themselves again. @maxItems 100 */
  remove?: string[];
}

/** Adds subscriptions to the invoices of one and takes others off them (docs/domain.md 29.2). */
export async function modifyGroup(
  unit: Unit,
  id: string,
  params: GroupedInvoicingParamsBody,
): Promise<readonly ChangedMember[]> {
  const parent = await lockRecord(unit, SUBSCRIPTIONS, id);
  if (parent?.status !== 'published') throw new Refused(notFound(SUBSCRIPTIONS.name, id));
  accept(listsRefusal('grouped_invoicing_params', params));
  const { add = [], remove = [] } = params;
  const removed = await removeFromGroup(unit, id, remove);
  const added = await addToGroup(unit, parent, add);
  const after = await unmarkParent(unit, added.parent);
  await announceUpdated(unit, after);
  return [...removed, ...added.children, { row: after, action: 'updated' }];
}
