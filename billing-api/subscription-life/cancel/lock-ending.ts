import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import { lockRecord } from '../../records/find-record.js';
import type { Unit } from '../../records/unit.js';
import { pausedUntil } from '../../subscriptions/loaded-subscription.js';
import { lockUnused } from '../settle/lock-charges.js';
import type { ComputedTask } from '../../invoicing/drafts/compute-tasks.js';
import { holdUnchanged, type HeldSubscription } from '../../invoicing/drafts/revisions.js';
import type { Ending } from './final-invoice.js';

/** A subscription that ends, locked as it was read; with its final invoice where it has one. */
export type LockedEnding = {
  readonly row: SubscriptionRow;
  readonly held: HeldSubscription | null;
};

async function lockUnchanged(
  unit: Unit,
  { subscription }: Ending['loaded'],
  final: ComputedTask | null,
): Promise<LockedEnding | null> {
  if (final === null) {
    const row = await lockRecord(unit, SUBSCRIPTIONS, subscription.id);
    return row?.version === subscription.version ? { row, held: null } : null;
  }
  const held = (await holdUnchanged(unit, [final.query])).get(subscription.id);
  return held === undefined ? null : { row: held.subscription, held };
}

/**
 * Locks a subscription that ends, and the invoices whose unused time is credited. Null when the
 * subscription or one of its invoices has changed since it was read.
 */
export async function lockEnding(
  unit: Unit,
  { loaded, atMs }: Pick<Ending, 'loaded' | 'atMs'>,
  { final, isCredited }: { readonly final: ComputedTask | null; readonly isCredited: boolean },
): Promise<LockedEnding | null> {
  const locked = await lockUnchanged(unit, loaded, final);
  if (locked !== null && isCredited) await lockUnused(unit, pausedUntil(loaded, atMs), atMs);
  return locked;
}
