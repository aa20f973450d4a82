import { sql } from 'slonik';
import { formatInstant } from '../../contract/instant.js';
import { noRows } from '../../sql/columns.js';
import { ADDON_ASSOCIATION } from '../domain/lifecycle/subscription-lifecycle.js';
import { isOfEnvironment, isOneOf, rowIsIn } from '../records/conditions.js';
import { findPublished } from '../records/find-record.js';
import type { Transaction, Unit } from '../records/unit.js';
import {
  ADDON_ASSOCIATIONS,
  type AddonAssociationRow,
} from '../declarations/subscriptions/addon-association.resource.js';

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
