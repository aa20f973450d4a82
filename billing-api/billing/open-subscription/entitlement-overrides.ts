import type { MemberReader } from '../../records/member-rules.js';

/** An absent member keeps the value of the plan. */
export interface OverrideEntitlementBody {
  /** A published entitlement of the plan. */
  parent_entitlement_id: string;
  /**
   * @isInt
   * @minimum 0
   * @maximum 9007199254740991
   */
  usage_limit?: number;
  is_enabled?: boolean;
  /** @maxLength 10000 */
  static_value?: string;
}

/** Reads the overrides of a request; every entitlement once. */
export function readEntitlementOverrides(
  reader: MemberReader,
  bodies: readonly OverrideEntitlementBody[],
): readonly OverrideEntitlementBody[] {
  const seen = new Set<string>();
  for (const [index, { parent_entitlement_id: id }] of bodies.entries()) {
    const member = `override_entitlements.${index}.parent_entitlement_id`;
    if (seen.has(id)) reader.note(member, 'must not be given twice');
    seen.add(id);
  }
  return bodies;
}
