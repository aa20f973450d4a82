import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { lockRecord } from '../../records/find-record.js';
import type { Unit } from '../../records/unit.js';
import { lockUnused } from '../settlement/lock-charges.js';
import type { ComputedTask } from '../stored/compute-tasks.js';
import { holdUnchanged, type HeldSubscription } from '../stored/revisions.js';
import type { PlanChange } from './read-change.js';
import { lockGroup } from './regroup.js';

/** A change of plan with the last invoice of the old subscription; null where it has none. */
export type ComputedChange = { readonly change: PlanChange; readonly final: ComputedTask | null };

export type HeldChange = { readonly row: SubscriptionRow; readonly held: HeldSubscription | null };

/** Locks the subscription; null when it, or an invoice of it, has changed since it was read. */
async function holdSame(unit: Unit, { change, final }: ComputedChange): Promise<HeldChange | null> {
  await lockGroup(unit, change);
  const { subscription } = change.loaded;
  if (final === null) {
    const row = await lockRecord(unit, SUBSCRIPTIONS, subscription.id);
    return row?.version === subscription.version ? { row, held: null } : null;
  }
  const held = (await holdUnchanged(unit, [final.query])).get(subscription.id);
  return held === undefined ? null : { row: held.subscription, held };
}

/** Locks the subscription, and the invoices that it may give back in part. */
export async function holdChange(unit: Unit, computed: ComputedChange): Promise<HeldChange | null> {
  const held = await holdSame(unit, computed);
  const { request, loaded, atMs } = computed.change;
  if (request.prorationBehavior === 'create_prorations') await lockUnused(unit, loaded, atMs);
  return held;
}
