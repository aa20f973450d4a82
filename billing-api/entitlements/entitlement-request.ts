import { invalid, type Refusal, NOT_PUBLISHED } from '../records/refusal.js';
import type { InstantMs } from '../../contract/instant.js';
import type { FeatureRow } from '../declarations/catalog/feature.resource.js';
import type { NamedOwner } from '../owners/lock-owners.js';
import type { CreateEntitlementBody } from '../declarations/entitlements/entitlement.resource.js';
import { endProblem, MemberReader } from '../records/member-rules.js';

/** An entitlement that keeps every rule which asks for nothing but the request. */
export type EntitlementCommand = {
  readonly owner: NamedOwner;
  readonly request: CreateEntitlementBody;
  readonly startMs: InstantMs | null;
  readonly endMs: InstantMs | null;
};

function readOwner(reader: MemberReader, request: CreateEntitlementBody): NamedOwner {
  const { plan_id: planId, entity_id: entityId, entity_type: type = null } = request;
  if (planId === undefined && entityId === undefined) {
    reader.note('plan_id', 'give plan_id or entity_id');
  }
  // Absent means none: the request is refused above.
  if (planId === undefined) return { id: entityId ?? '', type };
  if (entityId !== undefined && entityId !== planId) {
    reader.note('entity_id', 'must be the same as plan_id; give only one of them');
  }
  if (type !== null && type !== 'PLAN')
    reader.note('entity_type', 'must be PLAN or be left out with plan_id');
  return { id: planId, type: 'PLAN' };
}

/** Reads the members of an entitlement (docs/domain.md 3.2). */
export function entitlementCommandFrom(
  request: CreateEntitlementBody,
): EntitlementCommand | Refusal {
  const reader = new MemberReader();
  const command = {
    owner: readOwner(reader, request),
    request,
    startMs: reader.instant('start_date', request.start_date),
    endMs: reader.instant('end_date', request.end_date),
  };
  reader.note('end_date', endProblem('start_date', command.startMs, command.endMs));
  return reader.refusal() ?? command;
}

/** Rules about the feature: it is in use, and what it is decides which members are needed. */
export function featureRefusal(
  feature: FeatureRow,
  members: Pick<CreateEntitlementBody, 'feature_type'> & { readonly static_value?: unknown },
): Refusal | null {
  if (feature.status !== 'published') return invalid({ feature_id: NOT_PUBLISHED });
  const { feature_type: type = feature.type } = members;
  if (type !== feature.type)
    return invalid({ feature_type: `must be ${feature.type}, the type of the feature` });
  const isWithoutValue = (members.static_value ?? null) === null;
  if ((feature.type === 'static') !== isWithoutValue) return null;
  return invalid({
    static_value: isWithoutValue
      ? 'is required for a static feature'
      : `has no meaning for a ${feature.type} feature: leave it out`,
  });
}
