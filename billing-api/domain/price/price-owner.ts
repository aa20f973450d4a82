import type { PriceOwnerType } from './price.js';
import type { PriceRefusal, PriceRequest } from './price-request.js';
import { refuse } from './price-request.js';

/** The owner that a request names; without a type it follows the kind of record (domain.md 9.2). */
export type RequestedOwner = {
  readonly entityId: string;
  readonly entityType: PriceOwnerType | null;
};

/**
 * Reads who owns the price: `entity_id` with an optional `entity_type`, or one of `plan_id`,
 * `addon_id` and `subscription_id`. Several of them must mean the same record.
 */
export function requestedOwnerOf(request: PriceRequest): RequestedOwner | PriceRefusal {
  const named = ownersNamedBy(request);
  const ids = new Set(named.map((owner) => owner.entityId));
  const types = new Set([request, ...named].flatMap((owner) => owner.entityType ?? []));
  const [entityId] = ids;
  const [entityType] = types;
  if (entityId === undefined) return refuse('owner_missing', 'entity_id', 'name the owner');
  if (ids.size > 1 || types.size > 1) {
    const remedy = 'name one owner: entity_id, plan_id, addon_id or subscription_id';
    return refuse('owner_contradictory', 'entity_id', remedy);
  }
  return { entityId, entityType: entityType ?? null };
}

function ownersNamedBy(request: PriceRequest): readonly RequestedOwner[] {
  const all: readonly [string | null | undefined, PriceOwnerType | null | undefined][] = [
    [request.entityId, request.entityType],
    [request.planId, 'PLAN'],
    [request.addonId, 'ADDON'],
    [request.subscriptionId, 'SUBSCRIPTION'],
  ];
  return all.flatMap(([entityId, entityType]) =>
    entityId === null || entityId === undefined
      ? []
      : [{ entityId, entityType: entityType ?? null }],
  );
}
