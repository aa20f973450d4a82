import { assertPresent } from '../../runtime/failure.js';
import { lockRecordForRemoval, lockRecords } from '../records/find-record.js';
import { notFound, Refusal } from '../records/refusal.js';
import type { Unit } from '../records/unit.js';
import {
  SUBSCRIPTIONS,
  type SubscriptionRow,
} from '../declarations/subscriptions/subscription.resource.js';
import { ADDONS, type AddonRow } from '../declarations/catalog/addon.resource.js';
import { PLANS, type PlanRow } from '../declarations/catalog/plan.resource.js';
import { lockPlans } from './lock-plans.js';

type OwnerType = 'PLAN' | 'ADDON' | 'SUBSCRIPTION';

/** The owner that a request names; the type is null where the request gives only an id. */
export type NamedOwner = { readonly id: string; readonly type: OwnerType | null };

/** A record that has prices and entitlements. */
export type OwnerRecord =
  | { readonly entityType: 'PLAN'; readonly id: string; readonly row: PlanRow }
  | { readonly entityType: 'ADDON'; readonly id: string; readonly row: AddonRow }
  | { readonly entityType: 'SUBSCRIPTION'; readonly id: string; readonly row: SubscriptionRow };

type FoundOwners = {
  readonly PLAN: ReadonlyMap<string, PlanRow>;
  readonly ADDON: ReadonlyMap<string, AddonRow>;
  readonly SUBSCRIPTION: ReadonlyMap<string, SubscriptionRow>;
};

/** What tells owners of a request apart: one id may be named with a type and without. */
export const keyOf = ({ id, type }: NamedOwner): string => `${id} ${type ?? ''}`;

const NOUNS = { PLAN: 'plan', ADDON: 'addon', SUBSCRIPTION: 'subscription' } as const;

function publishedIn<Row extends { readonly status: string }>(
  rows: ReadonlyMap<string, Row>,
  id: string,
): Row | null {
  const row = rows.get(id);
  return row?.status === 'published' ? row : null;
}

/** The record with this id, as far as the request allows its kind. */
function ownerFound({ id, type }: NamedOwner, found: FoundOwners): OwnerRecord | Refusal {
  const isOf = (kind: OwnerType): boolean => type === null || type === kind;
  const plan = isOf('PLAN') ? publishedIn(found.PLAN, id) : null;
  if (plan !== null) return { entityType: 'PLAN', id, row: plan };
  const addon = isOf('ADDON') ? publishedIn(found.ADDON, id) : null;
  if (addon !== null) return { entityType: 'ADDON', id, row: addon };
  const subscription = isOf('SUBSCRIPTION') ? publishedIn(found.SUBSCRIPTION, id) : null;
  if (subscription?.subscription_type === 'inherited') {
    const problem = `subscription ${id} is inherited and has what its parent has`;
    return new Refusal('invalid_operation', problem);
  }
  if (subscription !== null) return { entityType: 'SUBSCRIPTION', id, row: subscription };
  return notFound(type === null ? 'plan, addon or subscription' : NOUNS[type], id);
}

/**
 * Finds the published owners of a request and keeps others from giving them prices or entitlements
 * until the transaction ends, so that two of them cannot meet unseen. Subscriptions come first, in
 * the order of their ids, then plans, those of the subscriptions too, then addons, in the order of
 * theirs: requests wait for each other and never deadlock.
 * @returns by `keyOf` the owner.
 */
export async function lockOwners(
  unit: Unit,
  owners: readonly NamedOwner[],
): Promise<ReadonlyMap<string, OwnerRecord | Refusal>> {
  const idsOf = (kind: OwnerType): readonly string[] =>
    owners.flatMap(({ id, type }) => (type === null || type === kind ? [id] : []));
  const subscriptions = await lockRecords(unit, SUBSCRIPTIONS, idsOf('SUBSCRIPTION'));
  const ofSubscriptions = [...subscriptions.values()].map((one) => one.plan_id);
  const found: FoundOwners = {
    SUBSCRIPTION: subscriptions,
    PLAN: await lockPlans(unit.tx, { changed: idsOf('PLAN'), held: ofSubscriptions }),
    ADDON: await lockRecords(unit, ADDONS, idsOf('ADDON')),
  };
  return new Map(owners.map((owner) => [keyOf(owner), ownerFound(owner, found)]));
}

/** The owner of a stored record, whatever its status, locked as by `lockOwners`. */
export async function lockOwnerOf(
  unit: Unit,
  { entity_type: type, entity_id: id }: { entity_type: OwnerType; entity_id: string },
): Promise<{ readonly status: string }> {
  const find = {
    PLAN: () => lockRecordForRemoval(unit, PLANS, id),
    ADDON: () => lockRecordForRemoval(unit, ADDONS, id),
    SUBSCRIPTION: () => lockRecordForRemoval(unit, SUBSCRIPTIONS, id),
  };
  return assertPresent(await find[type](), 'the owner of a record');
}
