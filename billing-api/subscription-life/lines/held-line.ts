import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { lifeOf } from '../../domain/periods/ledger-periods.js';
import {
  LINE_ITEMS,
  type LineItemRow,
} from '../../declarations/subscriptions/line-item.resource.js';
import { SUBSCRIPTIONS } from '../../declarations/subscriptions/subscription.resource.js';
import { lockRecord, readRecord } from '../../records/find-record.js';
import { accept, invalid, notFound, Refusal, Refused } from '../../records/refusal.js';
import type { Unit } from '../../records/unit.js';
import { endedPeriodRefusal } from '../../subscriptions/ended-period.js';
import { refuseInherited } from '../../subscriptions/refuse-inherited.js';
import {
  loadBilledSubscription,
  type BilledSubscription,
} from '../../subscriptions/loaded-subscription.js';

/** A line item of a subscription that is locked, so that nobody else changes its lines. */
export type HeldLine = { readonly row: LineItemRow; readonly loaded: BilledSubscription };

/**
 * Locks an active subscription and reads everything that its invoices are computed from.
 * @param isDraftTaken whether a draft will do as well, of which nothing is charged yet.
 */
export async function holdSubscription(
  unit: Unit,
  id: string,
  isDraftTaken = false,
): Promise<BilledSubscription> {
  const row = await lockRecord(unit, SUBSCRIPTIONS, id);
  if (row?.status !== 'published') throw new Refused(notFound(SUBSCRIPTIONS.name, id));
  accept(refuseInherited(row, 'has no lines'));
  const { subscription_status: status, current_period_end: end } = row;
  if (status === 'draft' && isDraftTaken) return loadBilledSubscription(unit, id);
  if (status !== 'active') {
    const problem = `the subscription is ${status}; only lines of an active one are changed`;
    throw new Refused(new Refusal('invalid_operation', problem));
  }
  if (end <= unit.now) throw new Refused(endedPeriodRefusal(row));
  return loadBilledSubscription(unit, id);
}

/** A line item with its locked subscription. */
export async function holdLine(unit: Unit, id: string): Promise<HeldLine> {
  const found = await readRecord(unit, LINE_ITEMS, id);
  const loaded = await holdSubscription(unit, found.subscription_id);
  const row = loaded.related.lineItems.find((item) => item.id === id);
  return accept(row === undefined ? notFound(LINE_ITEMS.name, id) : { row, loaded });
}

/** Why a line cannot change at an instant; null when it can. */
export function instantRefusal(
  { row, loaded }: HeldLine,
  member: string,
  atMs: InstantMs,
): Refusal | null {
  const { current_period_start: start, current_period_end: end } = loaded.subscription;
  if (row.end_date !== null && row.end_date <= atMs) {
    const ended = `the line item has ended at ${formatInstant(row.end_date)}`;
    return new Refusal('invalid_operation', ended);
  }
  if (atMs < row.start_date)
    return invalid({ [member]: 'must not be before the line item begins' });
  const isAtEnd = atMs === end && atMs < lifeOf(loaded.terms).endMs;
  if ((atMs >= start && atMs < end) || isAtEnd) return null;
  const period = `${formatInstant(start)} – ${formatInstant(end)}`;
  return invalid({ [member]: `must lie in the running period, ${period}, or at its end` });
}
