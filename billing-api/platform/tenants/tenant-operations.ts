import type { Occasion } from '../../records/occasion.js';
import { givenOf, MemberReader } from '../../records/member-rules.js';
import { Refusal } from '../../records/refusal.js';
import {
  mustRead,
  mustWrite,
  type ReadDependencies,
  type Unit,
  type WriteDependencies,
} from '../../records/unit.js';
import { tenantToDto, type ChangeTenantBody } from '../../declarations/platform/tenant.js';
import { lockOwnTenant, readOwnTenant, updateOwnTenant } from './tenants-store.js';
import type { TenantRow } from '../../declarations/platform/tenant.js';

/** Notes in the audit trail that the tenant was added or changed. */
export function recordTenant({ changes }: Unit, before: TenantRow | null, after: TenantRow): void {
  changes.push({
    entityType: 'tenant',
    entityId: after.id,
    action: before === null ? 'created' : 'updated',
    before: before === null ? null : tenantToDto(before),
    after: tenantToDto(after),
  });
}

/** GET /tenants/{id}: one's own only; another one is refused like one that does not exist. */
export async function readTenant(
  dependencies: ReadDependencies,
  occasion: Occasion,
  id: string,
): Promise<TenantRow | Refusal> {
  if (id !== occasion.environment.tenantId) {
    return new Refusal('permission_denied', 'only your own tenant can be read');
  }
  return mustRead(dependencies, occasion, readOwnTenant);
}

/** PUT /tenants/update. */
export async function changeTenant(
  dependencies: WriteDependencies,
  occasion: Occasion,
  body: ChangeTenantBody,
): Promise<TenantRow | Refusal> {
  const reader = new MemberReader();
  const { billing_details } = body;
  const patch = givenOf({
    name: reader.changedName('name', body.name),
    metadata: reader.changedMetadata(body.metadata),
    billing_details: billing_details === undefined ? undefined : (billing_details ?? {}),
  });
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return mustWrite(dependencies, occasion, async (unit) => {
    const before = await lockOwnTenant(unit);
    const after = await updateOwnTenant(unit, before, patch);
    recordTenant(unit, before, after);
    return after;
  });
}
