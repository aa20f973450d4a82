import { assertPresent } from '../../runtime/failure.js';
import {
  ENTITLEMENTS,
  findEntitlement,
  findResetsOfMeter,
  type EntitlementReset,
  type EntitlementRow,
} from './entitlements-store.js';
import { findFeature } from '../catalog/features/features-store.js';
import { holdPublishedPlan, lockPublishedPlans } from '../catalog/plans/plans-store.js';
import { insertRows, instantValue, newRecordColumns, type NewRow } from '../records/records.js';
import { lockSubscription } from '../subscriptions/subscriptions-store.js';
import { type Transaction, type WriteDependencies, writeUnit } from '../records/unit.js';
import type { Caller } from '../records/caller.js';
import {
  entitlementCommandFrom,
  featureRefusal,
  type EntitlementCommand,
  type EntitlementOwner,
  type EntitlementRequest,
} from './entitlement-request.js';
import { invalid, isRefusal, nestedRefusal, notFound, Refusal } from '../records/refusal.js';

/** The record that owns an entitlement; `planId` is its own, or that of the subscription. */
type Owner = {
  readonly entityType: 'PLAN' | 'SUBSCRIPTION';
  readonly id: string;
  readonly planId: string;
};

/**
 * Finds the owner and keeps others from giving it entitlements until the transaction ends, so that
 * two of them cannot meet unseen.
 */
export async function lockOwner(
  transaction: Transaction,
  { id, type }: EntitlementOwner,
): Promise<Owner | Refusal> {
  if (type === 'ADDON') return notFound('addon', id);
  if (type !== 'SUBSCRIPTION') {
    const plan = (await lockPublishedPlans(transaction, [id])).get(id);
    if (plan !== undefined) return { entityType: 'PLAN', id, planId: id };
    if (type === 'PLAN') return notFound('plan', id);
  }
  const subscription = await lockSubscription(transaction, id);
  if (subscription === null) {
    return notFound(type === null ? 'plan or subscription' : 'subscription', id);
  }
  await holdPublishedPlan(transaction, subscription.plan_id);
  return { entityType: 'SUBSCRIPTION', id, planId: subscription.plan_id };
}

/** What a subscription's entitlement replaces: one of the same feature, of its plan. */
async function parentRefusal(
  transaction: Transaction,
  { feature_id: featureId, parent_entitlement_id: id }: EntitlementRequest,
  owner: Owner,
): Promise<Refusal | null> {
  if (id === undefined) return null;
  const parent = await findEntitlement(transaction, id);
  if (parent === null) return notFound('entitlement', id);
  const problem = (text: string): Refusal => invalid({ parent_entitlement_id: text });
  if (parent.feature_id !== featureId) return problem('is of another feature');
  if (owner.entityType === 'SUBSCRIPTION' && parent.entity_id !== owner.planId) {
    return problem("is no entitlement of the subscription's plan");
  }
  return null;
}

/**
 * One meter has one kind of reset window: entitlements to several features of it share their limit
 * (domain.md 10.2).
 */
export async function resetRefusal(
  transaction: Transaction,
  entitlement: {
    readonly featureId: string;
    readonly entityId: string;
    readonly reset: EntitlementReset;
  },
): Promise<Refusal | null> {
  const { featureId, entityId, reset } = entitlement;
  const met = await findResetsOfMeter(transaction, { featureId, entityId });
  const other = met.find((one) => one.usage_reset_period !== reset);
  if (other === undefined) return null;
  const period = other.usage_reset_period ?? 'absent';
  const problem = `that of feature ${other.feature_id}, which has the same meter, is ${period} here`;
  return invalid({ usage_reset_period: `${problem}; they must be equal` });
}

function columnsOf(
  { request, startMs, endMs }: EntitlementCommand,
  owner: Owner,
  featureType: EntitlementRow['feature_type'],
): NewRow {
  return {
    feature_id: request.feature_id,
    feature_type: featureType,
    entity_type: owner.entityType,
    entity_id: owner.id,
    parent_entitlement_id: request.parent_entitlement_id ?? null,
    is_enabled: request.is_enabled ?? true,
    is_soft_limit: request.is_soft_limit ?? false,
    static_value: request.static_value ?? null,
    usage_limit: request.usage_limit ?? null,
    usage_reset_period: request.usage_reset_period ?? null,
    display_order: request.display_order ?? null,
    start_date: instantValue(startMs),
    end_date: instantValue(endMs),
    metadata: {},
  };
}

async function storeEntitlement(
  transaction: Transaction,
  command: EntitlementCommand,
  common: NewRow,
): Promise<EntitlementRow | Refusal> {
  const { request } = command;
  const owner = await lockOwner(transaction, command.owner);
  if (isRefusal(owner)) return owner;
  const feature = await findFeature(transaction, request.feature_id);
  if (feature === null) return notFound('feature', request.feature_id);
  const reset = request.usage_reset_period ?? null;
  const meeting = { featureId: feature.id, entityId: owner.id, reset };
  const refusal =
    featureRefusal(feature, request) ??
    (await parentRefusal(transaction, request, owner)) ??
    (await resetRefusal(transaction, meeting));
  if (refusal !== null) return refusal;
  const row = { ...common, ...columnsOf(command, owner, feature.type) };
  const [entitlement] = await insertRows(transaction, ENTITLEMENTS, [row]);
  return assertPresent(entitlement, 'the new entitlement');
}

/** A refusal of a bulk request names the index of the entitlement that it is about. */
function indexed(refusal: Refusal, index: number, isBulk: boolean): Refusal {
  if (!isBulk) return refusal;
  const place = `items.${index}`;
  return refusal.details === null
    ? new Refusal(refusal.code, `${place}: ${refusal.message}`, { [place]: refusal.message })
    : nestedRefusal(refusal, place);
}

/** POST /entitlements and POST /entitlements/bulk: all of the request, in its order, or none. */
export async function createEntitlements(
  { database, clock, createId }: WriteDependencies,
  caller: Caller,
  { items, isBulk }: { readonly items: readonly EntitlementRequest[]; readonly isBulk: boolean },
): Promise<readonly EntitlementRow[] | Refusal> {
  const now = clock.now();
  const ids = items.map(() => createId('ent')).sort();
  return writeUnit({ database, clock, createId }, caller, async ({ tx: transaction }) => {
    const rows: EntitlementRow[] = [];
    for (const [index, item] of items.entries()) {
      const command = entitlementCommandFrom(item);
      if (isRefusal(command)) return indexed(command, index, isBulk);
      const common = newRecordColumns(caller, ids[index] ?? '', now);
      const row = await storeEntitlement(transaction, command, common);
      if (isRefusal(row)) return indexed(row, index, isBulk);
      rows.push(row);
    }
    return rows;
  });
}
