import { sql } from 'slonik';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { noRows } from '../../sql/columns.js';
import { ADDON_ASSOCIATION } from '../domain/lifecycle/subscription-lifecycle.js';
import { updateRecord } from '../records/change-record.js';
import { isOfEnvironment, isOneOf, rowIsIn } from '../records/conditions.js';
import { findPublished } from '../records/find-record.js';
import type { Transaction, Unit } from '../records/unit.js';
import {
  ADDON_ASSOCIATIONS,
  type AddonAssociationRow,
} from '../declarations/subscriptions/addon-association.resource.js';
import { LINE_ITEMS } from '../declarations/subscriptions/line-item.resource.js';

/** The addons that these subscriptions have, had or are to have, oldest first. */
export function findAddonAssociations(
  transaction: Transaction,
  subscriptionIds: readonly string[],
): Promise<readonly AddonAssociationRow[]> {
  const conditions = isOneOf('subscription_id', subscriptionIds);
  return findPublished({ tx: transaction }, ADDON_ASSOCIATIONS, conditions);
}

/** Addons of renewed subscriptions whose time has come begin, and those whose time is over end. */
export async function settleAddons(
  { tx, now }: Unit,
  subscriptionIds: readonly string[],
): Promise<void> {
  const at = sql.fragment`${formatInstant(now)}::timestamptz`;
  await tx.query(sql.type(noRows)`
    UPDATE addon_associations SET version = version + 1, updated_at = ${at},
      addon_status = CASE WHEN end_date <= ${at} THEN 'cancelled' ELSE 'active' END
    WHERE subscription_id = ANY (${sql.array([...subscriptionIds], 'text')})
      AND (end_date <= ${at} AND ${rowIsIn(['addon_status'], ADDON_ASSOCIATION, 'alive')}
        OR addon_status = 'pending' AND start_date <= ${at})
      AND ${isOfEnvironment}`);
}

/**
 * Moves the end of addons that end with the running period of a locked subscription to where that
 * ends now: onetime ones, and those that were removed with its end. One that was given an end of
 * its own keeps that (docs/domain.md 27).
 */
export async function moveAddonEnds(
  unit: Unit,
  subscriptionId: string,
  { fromMs, toMs }: { readonly fromMs: InstantMs; readonly toMs: InstantMs },
): Promise<void> {
  if (fromMs === toMs) return;
  const from = formatInstant(fromMs);
  const addons = await unit.tx.any(sql.type(ADDON_ASSOCIATIONS.row)`
    SELECT * FROM addon_associations
    WHERE subscription_id = ${subscriptionId} AND end_date = ${from}::timestamptz
      AND (cadence = 'onetime' OR addon_status = 'cancelled') AND ${isOfEnvironment}
    ORDER BY id FOR NO KEY UPDATE`);
  const ids = addons.map(({ id }) => id);
  const lines = await unit.tx.any(sql.type(LINE_ITEMS.row)`
    SELECT * FROM subscription_line_items
    WHERE addon_association_id = ANY (${sql.array(ids, 'text')})
      AND end_date = ${from}::timestamptz AND ${isOfEnvironment}
    ORDER BY id FOR NO KEY UPDATE`);
  const patch = { end_date: toMs };
  for (const row of addons) {
    await updateRecord(unit, ADDON_ASSOCIATIONS, { row, patch });
  }
  for (const row of lines) {
    await updateRecord(unit, LINE_ITEMS, { row, patch });
  }
}
