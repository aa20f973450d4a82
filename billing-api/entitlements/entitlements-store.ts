import { sql } from 'slonik';
import { z } from 'zod';
import { isOneOf } from '../records/conditions.js';
import { findPublished } from '../records/find-record.js';
import type { Transaction } from '../records/unit.js';
import {
  ENTITLEMENTS,
  type EntitlementReset,
  type EntitlementRow,
} from './entitlement.resource.js';

/** The published entitlements of these plans and subscriptions, oldest first. */
export async function findEntitlementsOf(
  transaction: Transaction,
  entityIds: readonly string[],
): Promise<readonly EntitlementRow[]> {
  if (entityIds.length === 0) return [];
  return findPublished({ tx: transaction }, ENTITLEMENTS, isOneOf('entity_id', entityIds));
}

export type ResetOfMeter = {
  readonly feature_id: string;
  readonly usage_reset_period: EntitlementReset;
};

/**
 * The published entitlements to other features of the same meter that meet those of an owner: its
 * own, of a subscription those of its plan, and of a plan those of its subscriptions that have not
 * been cancelled.
 */
export async function findResetsOfMeter(
  transaction: Transaction,
  meeting: { readonly featureId: string; readonly entityId: string },
): Promise<readonly ResetOfMeter[]> {
  const row = z.object({
    feature_id: ENTITLEMENTS.columns.feature_id.schema,
    usage_reset_period: ENTITLEMENTS.columns.usage_reset_period.schema,
  });
  return transaction.any(sql.type(row)`
    SELECT entitlements.feature_id, entitlements.usage_reset_period
    FROM features AS own
    JOIN features AS other ON other.meter_id = own.meter_id AND other.id <> own.id
    JOIN entitlements ON entitlements.feature_id = other.id
    WHERE own.id = ${meeting.featureId} AND entitlements.status = 'published'
      AND (entitlements.entity_id = ${meeting.entityId}
        OR EXISTS (SELECT FROM subscriptions
          WHERE subscription_status <> 'cancelled'
            AND ((subscriptions.id = ${meeting.entityId} AND plan_id = entitlements.entity_id)
              OR (plan_id = ${meeting.entityId} AND subscriptions.id = entitlements.entity_id))))
    ORDER BY entitlements.created_at, entitlements.id`);
}
