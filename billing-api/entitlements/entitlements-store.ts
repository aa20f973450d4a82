import { sql } from 'slonik';
import { z } from 'zod';
import { isOneOf, rowIsOfEnvironment } from '../records/conditions.js';
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

/** A reset window that an entitlement to a feature is to have at an owner. */
type MeetingWindow = {
  readonly featureId: string;
  readonly entityId: string;
  readonly reset: EntitlementReset;
};

/**
 * Entitlements that may not stand beside the wanted ones: for each, the oldest published one to
 * another feature of the same meter, with another reset period, of the same owner. The owner's
 * subscriptions that have not been cancelled, or the plan of a subscription, count as the owner.
 * @returns by the index of the wanted one; nothing for one that meets no other.
 */
export async function findOtherResetsOfMeters(
  transaction: Transaction,
  windows: readonly MeetingWindow[],
): Promise<ReadonlyMap<number, ResetOfMeter>> {
  if (windows.length === 0) return new Map();
  const row = z.object({
    place: z.number().int(),
    feature_id: ENTITLEMENTS.columns.feature_id.schema,
    usage_reset_period: ENTITLEMENTS.columns.usage_reset_period.schema,
  });
  const rows = await transaction.any(sql.type(row)`
    SELECT DISTINCT ON (place) place, entitlements.feature_id, entitlements.usage_reset_period
    FROM jsonb_to_recordset(${JSON.stringify(windows.map(wanted))}::jsonb)
      AS wanted (place integer, feature_id text, entity_id text, reset text)
    JOIN features AS own ON own.id = wanted.feature_id
    JOIN features AS other ON other.meter_id = own.meter_id AND other.id <> own.id
    JOIN entitlements ON entitlements.feature_id = other.id
    WHERE entitlements.status = 'published' AND ${rowIsOfEnvironment('entitlements')}
      AND ${rowIsOfEnvironment('own')} AND ${rowIsOfEnvironment('other')}
      AND entitlements.usage_reset_period IS DISTINCT FROM wanted.reset
      AND (entitlements.entity_id = wanted.entity_id
        OR EXISTS (SELECT FROM subscriptions
          WHERE subscription_status <> 'cancelled' AND ${rowIsOfEnvironment('subscriptions')}
            AND ((subscriptions.id = wanted.entity_id AND plan_id = entitlements.entity_id)
              OR (plan_id = wanted.entity_id AND subscriptions.id = entitlements.entity_id))))
    ORDER BY place, entitlements.created_at, entitlements.id`);
  return new Map(rows.map(({ place, ...found }) => [place, found]));
}

function wanted({ featureId, entityId, reset }: MeetingWindow, place: number) {
  return { place, feature_id: featureId, entity_id: entityId, reset };
}
