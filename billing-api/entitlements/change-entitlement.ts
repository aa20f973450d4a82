import { assertPresent } from '../../runtime/failure.js';
import {
  lockEntitlement,
  updateEntitlement,
  type EntitlementReset,
  type EntitlementRow,
} from './entitlements-store.js';
import { findFeature } from '../catalog/features/features-store.js';
import { type WriteDependencies, type Transaction, writeUnit } from '../records/unit.js';
import type { Caller } from '../records/caller.js';
import { lockOwner, resetRefusal } from './create-entitlements.js';
import { endProblem, featureRefusal } from './entitlement-request.js';
import { MemberReader } from '../records/member-rules.js';
import { isRefusal, notFound, Refusal } from '../records/refusal.js';

/** A change as PUT /entitlements/{id} names it: absent members stay, null clears one. */
export type EntitlementChange = {
  readonly is_enabled?: boolean | undefined;
  readonly is_soft_limit?: boolean | undefined;
  readonly static_value?: string | null | undefined;
  readonly usage_limit?: number | null | undefined;
  readonly usage_reset_period?: EntitlementReset | undefined;
  readonly display_order?: number | null | undefined;
  readonly end_date?: string | null | undefined;
};

/** The entitlement as the change leaves it. */
function changed(row: EntitlementRow, change: EntitlementChange): EntitlementRow | Refusal {
  const reader = new MemberReader();
  const { end_date: end, ...others } = change;
  const given = Object.entries(others).filter(([, value]) => value !== undefined);
  const endMs = end === undefined ? row.end_date : reader.instant('end_date', end ?? undefined);
  reader.note('end_date', endProblem({ startMs: row.start_date, endMs }));
  return reader.refusal() ?? { ...row, ...Object.fromEntries(given), end_date: endMs };
}

async function ruleRefusal(
  transaction: Transaction,
  row: EntitlementRow,
  before: EntitlementRow,
): Promise<Refusal | null> {
  const feature = await findFeature(transaction, row.feature_id);
  const refusal = featureRefusal(assertPresent(feature, 'the feature of an entitlement'), row);
  if (refusal !== null || row.usage_reset_period === before.usage_reset_period) return refusal;
  // For the lock alone: that the owner may have been archived does not matter here.
  await lockOwner(transaction, { id: row.entity_id, type: row.entity_type });
  return resetRefusal(transaction, {
    featureId: row.feature_id,
    entityId: row.entity_id,
    reset: row.usage_reset_period,
  });
}

async function findForChange(
  transaction: Transaction,
  id: string,
): Promise<EntitlementRow | Refusal> {
  const row = await lockEntitlement(transaction, id);
  if (row === null) return notFound('entitlement', id);
  return row.status === 'published'
    ? row
    : new Refusal('invalid_operation', `the entitlement is already ${row.status}`);
}

/** PUT /entitlements/{id}. */
export function changeEntitlement(
  dependencies: WriteDependencies,
  caller: Caller,
  wish: { readonly id: string; readonly change: EntitlementChange },
): Promise<EntitlementRow | Refusal> {
  const by = { userId: caller.userId, now: dependencies.clock.now() };
  return writeUnit(
    dependencies,
    caller,
    async ({ tx: transaction }): Promise<EntitlementRow | Refusal> => {
      const before = await findForChange(transaction, wish.id);
      if (isRefusal(before)) return before;
      const row = changed(before, wish.change);
      if (isRefusal(row)) return row;
      const refusal = await ruleRefusal(transaction, row, before);
      return refusal ?? updateEntitlement(transaction, row, by);
    },
  );
}

/** DELETE /entitlements/{id}: it is archived and counts no more (domain.md 4). */
export function archiveEntitlement(
  dependencies: WriteDependencies,
  caller: Caller,
  id: string,
): Promise<EntitlementRow | Refusal> {
  const by = { userId: caller.userId, now: dependencies.clock.now() };
  return writeUnit(
    dependencies,
    caller,
    async ({ tx: transaction }): Promise<EntitlementRow | Refusal> => {
      const row = await findForChange(transaction, id);
      if (isRefusal(row)) return row;
      return updateEntitlement(transaction, { ...row, status: 'archived' }, by);
    },
  );
}
