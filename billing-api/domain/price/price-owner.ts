import { refuse, type PriceRefusal } from './price-refusal.js';
import type { PriceOwnerType } from './price.js';

/** Members of a price body that name its owner. */
export interface PriceOwnerBody {
  /** A plan, an addon or a subscription. Either this or one of the next three is required. */
  readonly entity_id?: string;
  readonly plan_id?: string;
  readonly addon_id?: string;
  readonly subscription_id?: string;
  /** Follows from the record that `entity_id` names. */
  readonly entity_type?: PriceOwnerType;
}

/**
 * The owner of a price, as a request names it. If the request gives no type, the record with this
 * id decides it (docs/domain.md 9.2).
 */
export type RequestedOwner = {
  readonly entityId: string;
  readonly entityType: PriceOwnerType | null;
};

/**
 * Reads who owns the price: `entity_id` with an optional `entity_type`, or one of `plan_id`,
 * `addon_id` and `subscription_id`. Several of them must mean the same record.
 */
export function requestedOwnerOf(body: PriceOwnerBody): RequestedOwner | PriceRefusal {
  const named = ownersNamedBy(body);
  const ids = new Set(named.map((owner) => owner.entityId));
  const types = new Set(
    [body.entity_type, ...named.map((owner) => owner.entityType)].filter(
      (type) => type !== undefined && type !== null,
    ),
  );
  const [entityId] = ids;
  const [entityType] = types;
  if (entityId === undefined)
    return refuse(
      'owner_missing',
      'entity_id',
      'name the owner: entity_id, plan_id, addon_id or subscription_id',
    );
  if (ids.size > 1 || types.size > 1) {
    const remedy = 'name one owner: entity_id, plan_id, addon_id or subscription_id';
    return refuse('owner_contradictory', 'entity_id', remedy);
  }
  return { entityId, entityType: entityType ?? null };
}

function ownersNamedBy(body: PriceOwnerBody): readonly RequestedOwner[] {
  const all: readonly [string | undefined, PriceOwnerType | null][] = [
    [body.entity_id, body.entity_type ?? null],
    [body.plan_id, 'PLAN'],
    [body.addon_id, 'ADDON'],
    [body.subscription_id, 'SUBSCRIPTION'],
  ];
  return all.flatMap(([entityId, entityType]) =>
    entityId === undefined ? [] : [{ entityId, entityType }],
  );
}
