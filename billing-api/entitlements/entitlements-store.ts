import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { instantColumn, integerColumn } from '../../sql/columns.js';
import { instantValue, recordColumns } from '../records/records.js';
import { RECORD_MEMBERS } from '../records/search-table.js';
import type { Transaction } from '../records/unit.js';

const entitlementRow = z.object({
  ...recordColumns,
  feature_id: z.string(),
  feature_type: z.enum(['metered', 'boolean', 'static']),
  entity_type: z.enum(['PLAN', 'ADDON', 'SUBSCRIPTION']),
  entity_id: z.string(),
  parent_entitlement_id: z.string().nullable(),
  is_enabled: z.boolean(),
  is_soft_limit: z.boolean(),
  static_value: z.string().nullable(),
  usage_limit: integerColumn.nullable(),
  usage_reset_period: z
    .enum(['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL', 'NEVER'])
    .nullable(),
  display_order: z.number().int().nullable(),
  start_date: instantColumn.nullable(),
  end_date: instantColumn.nullable(),
});
export type EntitlementRow = z.output<typeof entitlementRow>;
export type EntitlementReset = EntitlementRow['usage_reset_period'];

export const ENTITLEMENTS = {
  name: 'entitlements',
  row: entitlementRow,
  members: {
    ...RECORD_MEMBERS,
    feature_id: 'string',
    feature_type: 'string',
    entity_type: 'string',
    entity_id: 'string',
    parent_entitlement_id: 'string',
    is_enabled: 'boolean',
    is_soft_limit: 'boolean',
    static_value: 'string',
    usage_limit: 'number',
    usage_reset_period: 'string',
    display_order: 'number',
    start_date: 'date',
    end_date: 'date',
  },
} as const;

export async function findEntitlement(
  transaction: Transaction,
  id: string,
): Promise<EntitlementRow | null> {
  return transaction.maybeOne(sql.type(entitlementRow)`
    SELECT * FROM entitlements WHERE id = ${id}`);
}

/** As `findEntitlement`; until the transaction ends nobody else changes it. */
export async function lockEntitlement(
  transaction: Transaction,
  id: string,
): Promise<EntitlementRow | null> {
  return transaction.maybeOne(sql.type(entitlementRow)`
    SELECT * FROM entitlements WHERE id = ${id} FOR UPDATE`);
}

/** The published entitlements of these plans and subscriptions, oldest first. */
export async function findEntitlementsOf(
  transaction: Transaction,
  entityIds: readonly string[],
): Promise<readonly EntitlementRow[]> {
  if (entityIds.length === 0) return [];
  return transaction.any(sql.type(entitlementRow)`
    SELECT * FROM entitlements
    WHERE entity_id = ANY (${sql.array([...new Set(entityIds)], 'text')}) AND status = 'published'
    ORDER BY created_at, id`);
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
  const row = entitlementRow.pick({ feature_id: true, usage_reset_period: true });
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

/** Writes every member of an entitlement that may change. */
export async function updateEntitlement(
  transaction: Transaction,
  row: EntitlementRow,
  by: { readonly userId: string; readonly now: InstantMs },
): Promise<EntitlementRow> {
  return transaction.one(sql.type(entitlementRow)`
    UPDATE entitlements SET
      is_enabled = ${row.is_enabled}, is_soft_limit = ${row.is_soft_limit},
      static_value = ${row.static_value}, usage_limit = ${row.usage_limit},
      usage_reset_period = ${row.usage_reset_period}, display_order = ${row.display_order},
      end_date = ${instantValue(row.end_date)}::timestamptz, status = ${row.status},
      updated_at = ${formatInstant(by.now)}::timestamptz, updated_by = ${by.userId}
    WHERE id = ${row.id}
    RETURNING *`);
}
