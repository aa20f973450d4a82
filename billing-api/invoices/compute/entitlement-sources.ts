import { Decimal } from '../../../contract/decimal.js';
import type { EntitlementSource } from '../../domain/entitlement/entitlement.js';
import type { EntitlementRow } from '../../entitlements/entitlement.resource.js';
import { findEntitlementsOf } from '../../entitlements/entitlements-store.js';
import { findFeatures } from '../../catalog/features/features-store.js';
import type { SubscriptionRow } from '../../subscriptions/subscription.resource.js';
import type { Transaction } from '../../records/unit.js';

function sourceFrom(row: EntitlementRow, meterId: string | null): EntitlementSource {
  return {
    entitlementId: row.id,
    // Earlier versions took a parent for a plan as well, where it means nothing.
    parentEntitlementId: row.entity_type === 'SUBSCRIPTION' ? row.parent_entitlement_id : null,
    featureId: row.feature_id,
    featureType: row.feature_type,
    meterId,
    isEnabled: row.is_enabled,
    isSoftLimit: row.is_soft_limit,
    usageLimit: row.usage_limit === null ? null : new Decimal(row.usage_limit),
    usageResetPeriod: row.usage_reset_period,
    staticValue: row.static_value,
    createdAtMs: row.created_at,
    validity: { startMs: row.start_date ?? -Infinity, endMs: row.end_date ?? Infinity },
  };
}

/** Every entitlement that a subscription has, by its plan or of its own (docs/domain.md 10.1). */
export async function findEntitlementSources(
  transaction: Transaction,
  { id, plan_id: planId }: SubscriptionRow,
): Promise<readonly EntitlementSource[]> {
  const rows = await findEntitlementsOf(transaction, [planId, id]);
  const features = await findFeatures(
    transaction,
    rows.map((row) => row.feature_id),
  );
  return rows.map((row) => sourceFrom(row, features.get(row.feature_id)?.meter_id ?? null));
}
