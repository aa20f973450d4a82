import { isOneOf } from '../records/conditions.js';
import { findPublished } from '../records/find-record.js';
import type { Transaction } from '../records/unit.js';
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
