import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../../declarations/subscriptions/subscription.resource.js';
import type { ScheduleRow } from '../../declarations/subscriptions/schedule.resource.js';
import { lockRecord } from '../../records/find-record.js';
import type { Unit } from '../../records/unit.js';
import { pausedUntil } from '../../subscriptions/loaded-subscription.js';
import { findPending } from '../../subscriptions/schedules-store.js';
import { lockUnused } from '../settle/lock-charges.js';
import type { ComputedTask } from '../../invoicing/drafts/compute-tasks.js';
import { holdUnchanged, type HeldSubscription } from '../../invoicing/drafts/revisions.js';
import type { Ending } from './final-invoice.js';

/** A subscription that ends, locked as it was read. */
export type LockedEnding = {
  readonly row: SubscriptionRow;
  /** With the state of its invoices, where it has a final one. */
  readonly held: HeldSubscription | null;
  /** The change of it that is to come; null for none. */
  readonly pending: ScheduleRow | null;
};

async function lockUnchanged(
  unit: Unit,
  { subscription }: Ending['loaded'],
  final: ComputedTask | null,
): Promise<Pick<LockedEnding, 'row' | 'held'> | null> {
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
  { loaded, atMs }: Ending,
  { final, isCredited }: { readonly final: ComputedTask | null; readonly isCredited: boolean },
): Promise<LockedEnding | null> {
  const locked = await lockUnchanged(unit, loaded, final);
  if (locked === null) return null;
  if (isCredited) await lockUnused(unit, pausedUntil(loaded, atMs), atMs);
  return { ...locked, pending: await findPending(unit, locked.row.id) };
}
