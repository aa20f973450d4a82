import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { noRows } from '../../sql/columns.js';
import { ADDON_ASSOCIATION, SUBSCRIPTION } from '../domain/lifecycle/subscription-lifecycle.js';
import { isOneOf, rowIsIn, rowIsOfEnvironment } from '../records/conditions.js';
import { findPublished } from '../records/find-record.js';
import type { Transaction, Unit } from '../records/unit.js';
import {
  ENTITLEMENTS,
  type EntitlementReset,
  type EntitlementRow,
} from '../declarations/entitlements/entitlement.resource.js';

/** The published entitlements of these plans, addons and subscriptions, oldest first. */
export async function findEntitlementsOf(
  transaction: Transaction,
  entityIds: readonly string[],
): Promise<readonly EntitlementRow[]> {
  if (entityIds.length === 0) return [];
  return findPublished({ tx: transaction }, ENTITLEMENTS, isOneOf('entity_id', entityIds));
}

/**
 * For each of these entitlements the oldest other published one of the same owner to the same
 * feature whose dates overlap with its own; these ones themselves do not count as others.
 * @returns ids by ids; nothing for one that has no other.
 */
export async function findTwins(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const row = z.object({ id: z.string(), twin_id: z.string() });
  const given = sql.array([...ids], 'text');
  const rows = await transaction.any(sql.type(row)`
    SELECT DISTINCT ON (own.id) own.id, other.id AS twin_id
    FROM entitlements AS own
    JOIN entitlements AS other
      ON other.entity_id = own.entity_id AND other.feature_id = own.feature_id
      AND other.id <> own.id
    WHERE own.id = ANY (${given}) AND other.status = 'published'
      AND NOT other.id = ANY (${given})
      AND coalesce(own.start_date, '-infinity') < coalesce(other.end_date, 'infinity')
      AND coalesce(other.start_date, '-infinity') < coalesce(own.end_date, 'infinity')
      AND ${rowIsOfEnvironment('own')} AND ${rowIsOfEnvironment('other')}
    ORDER BY own.id, other.created_at, other.id`);
  return new Map(rows.map(({ id, twin_id: twinId }) => [id, twinId]));
}

export type ResetOfMeter = {
  readonly feature_id: string;
  readonly usage_reset_period: EntitlementReset;
};

/**
 * Entitlements that may not stand beside these: for each, the oldest published one to another
 * feature of the same meter, with another reset period, that can count for one subscription with
 * it. Of these ones themselves, only those with smaller ids are compared.
 * @returns by id; nothing for one that meets no other.
 */
export async function findOtherResetsOfMeters(
  transaction: Transaction,
  ids: readonly string[],
): Promise<ReadonlyMap<string, ResetOfMeter>> {
  if (ids.length === 0) return new Map();
  const row = z.object({
    id: z.string(),
    feature_id: ENTITLEMENTS.columns.feature_id.schema,
    usage_reset_period: ENTITLEMENTS.columns.usage_reset_period.schema,
  });
  const given = sql.array([...ids], 'text');
  const isAlive = rowIsIn(['met', 'subscription_status'], SUBSCRIPTION, 'alive');
  const rows = await transaction.any(sql.type(row)`
    SELECT DISTINCT ON (own.id) own.id, other.feature_id, other.usage_reset_period
    FROM entitlements AS own
    JOIN features AS own_feature ON own_feature.id = own.feature_id
    JOIN features AS other_feature ON other_feature.meter_id = own_feature.meter_id
      AND other_feature.id <> own_feature.id
    JOIN entitlements AS other ON other.feature_id = other_feature.id
    WHERE own.id = ANY (${given}) AND other.status = 'published'
      AND (NOT other.id = ANY (${given}) OR other.id < own.id)
      AND other.usage_reset_period IS DISTINCT FROM own.usage_reset_period
      AND ${rowIsOfEnvironment('own')} AND ${rowIsOfEnvironment('own_feature')}
      AND ${rowIsOfEnvironment('other')} AND ${rowIsOfEnvironment('other_feature')}
      AND (other.entity_id = own.entity_id
        OR EXISTS (SELECT FROM subscriptions AS met
          WHERE ${isAlive} AND ${rowIsOfEnvironment('met')}
            AND ((met.id = own.entity_id AND met.plan_id = other.entity_id)
              OR (met.id = other.entity_id AND met.plan_id = own.entity_id)))
        OR EXISTS (SELECT FROM addon_associations AS held
          JOIN subscriptions AS met ON met.id = held.subscription_id
          WHERE ${rowIsIn(['held', 'addon_status'], ADDON_ASSOCIATION, 'alive')} AND ${isAlive}
            AND ${rowIsOfEnvironment('held')} AND ${rowIsOfEnvironment('met')}
            AND ((held.addon_id = own.entity_id AND other.entity_id IN (met.id, met.plan_id))
              OR (held.addon_id = other.entity_id AND own.entity_id IN (met.id, met.plan_id))))
        OR EXISTS (SELECT FROM addon_associations AS held
          JOIN addon_associations AS beside ON beside.subscription_id = held.subscription_id
          JOIN subscriptions AS met ON met.id = held.subscription_id
          WHERE ${rowIsIn(['held', 'addon_status'], ADDON_ASSOCIATION, 'alive')} AND ${rowIsIn(['beside', 'addon_status'], ADDON_ASSOCIATION, 'alive')}
            AND ${rowIsOfEnvironment('held')} AND ${rowIsOfEnvironment('beside')}
            AND ${isAlive} AND ${rowIsOfEnvironment('met')}
            AND held.addon_id = own.entity_id AND beside.addon_id = other.entity_id))
    ORDER BY own.id, other.created_at, other.id`);
  return new Map(rows.map(({ id, ...found }) => [id, found]));
}

/**
 * Moves the end of the allowances that a locked subscription has for its first period to where that
 * ends now, but not beyond the end of what they replace (docs/domain.md 22.2). Those of a first
 * period that has ended before the running one stay.
 */
export async function moveFirstAllowances(
  unit: Unit,
  subscriptionId: string,
  { sinceMs, toMs }: { readonly sinceMs: InstantMs; readonly toMs: InstantMs },
): Promise<void> {
  await unit.tx.query(sql.type(noRows)`
    UPDATE entitlements AS own SET
      end_date = least(${formatInstant(toMs)}::timestamptz, (SELECT replaced.end_date
        FROM entitlements AS replaced
        WHERE replaced.id = own.parent_entitlement_id AND ${rowIsOfEnvironment('replaced')})),
      updated_at = ${formatInstant(unit.now)}::timestamptz
    WHERE own.entity_id = ${subscriptionId} AND own.is_of_first_period
      AND own.end_date > ${formatInstant(sinceMs)}::timestamptz AND ${rowIsOfEnvironment('own')}`);
}
