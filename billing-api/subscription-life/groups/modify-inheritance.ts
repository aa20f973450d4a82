import type { SubscriptionRow } from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { SUBSCRIPTION } from '../../domain/lifecycle/subscription-lifecycle.js';
import { lockRecord } from '../../records/find-record.js';
import { moveRecord } from '../../records/move-record.js';
import { accept, invalid, notFound, type Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { lockChildren } from '../../subscriptions/children-store.js';
import { announceUpdated, toldOfSubscription } from '../../subscriptions/subscription-events.js';
import { lockCustomers, parentRefusal, storeChildren, unmarkParent } from './inherit.js';

export interface InheritanceParamsBody {
  /** Customers who inherit from now on, by their external ids. @maxItems 1000 */
  add?: string[];
  /** Inherited subscriptions that end now. @maxItems 1000 */
  remove?: string[];
}

/** A subscription of a hierarchy that was changed. */
export type ChangedMember = {
  readonly row: SubscriptionRow;
  readonly action: 'created' | 'updated' | 'cancelled';
};

/** Refuses lists that say nothing, or say something twice. */
export function listsRefusal(
  member: string,
  { add = [], remove = [] }: InheritanceParamsBody,
): Refusal | null {
  const all = [...add, ...remove];
  if (all.length === 0) return invalid({ [member]: 'must add or remove something' });
  return new Set(all).size === all.length ? null : invalid({ [member]: 'must name each once' });
}

/** Ends an inherited subscription where it leaves its parent: its usage counts until then. */
async function removeChild(unit: Unit, row: SubscriptionRow): Promise<ChangedMember> {
  const atMs = Math.max(unit.now, row.start_date + 1);
  const after = await moveRecord(unit, SUBSCRIPTIONS, {
    target: { id: row.id },
    lifecycle: SUBSCRIPTION,
    move: 'cancel',
    to: 'cancelled',
    patch: () => ({
      cancel_at: atMs,
      end_date: atMs,
      cancelled_at: unit.now,
      cancel_at_period_end: false,
      pause_status: 'none' as const,
      active_pause_id: null,
    }),
    told: (changed) => toldOfSubscription(unit, changed),
  });
  return { row: after, action: 'cancelled' };
}

/** Ends inherited subscriptions of a locked parent. */
async function removeChildren(
  unit: Unit,
  parentId: string,
  ids: readonly string[],
): Promise<readonly ChangedMember[]> {
  const rows = await lockChildren(unit, [parentId], 'inherited');
  const children = new Map(rows.map((row) => [row.id, row]));
  const removed: ChangedMember[] = [];
  for (const id of ids) {
    const row = children.get(id);
    if (row === undefined) throw new Refused(notFound('inherited subscription', id));
    removed.push(await removeChild(unit, row));
  }
  return removed;
}

/** Lets customers inherit from a locked parent from now on. */
async function addChildren(unit: Unit, parent: SubscriptionRow, externalIds: readonly string[]) {
  if (externalIds.length === 0) return { parent, children: [] };
  accept(parentRefusal(parent));
  const customers = await lockCustomers(unit, externalIds);
  const children = customers.map((customer) => ({ customer }));
  const startMs = Math.max(unit.now, parent.start_date);
  return storeChildren(unit, parent, { children, startMs });
}

/** Adds customers to a hierarchy and takes others out of it, now (docs/domain.md 29.1). */
export async function modifyInheritance(
  unit: Unit,
  id: string,
  params: InheritanceParamsBody,
): Promise<readonly ChangedMember[]> {
  const parent = await lockRecord(unit, SUBSCRIPTIONS, id);
  if (parent?.status !== 'published') throw new Refused(notFound(SUBSCRIPTIONS.name, id));
  accept(listsRefusal('inheritance_params', params));
  const { add = [], remove = [] } = params;
  const removed = await removeChildren(unit, id, remove);
  const added = await addChildren(unit, parent, add);
  const after = await unmarkParent(unit, added.parent);
  await announceUpdated(unit, after);
  const created = added.children.map((row) => ({ row, action: 'created' as const }));
  return [...removed, ...created, { row: after, action: 'updated' }];
}
