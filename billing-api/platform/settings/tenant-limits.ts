import { z } from 'zod';
import { givenOf } from '../../records/member-rules.js';
import type { TenantRow } from '../../declarations/platform/tenant.js';

const limit = (max: number) => z.number().int().min(0).max(max);

export const tenantLimits = z
  .object({
    users: limit(10_000).min(1),
    production_environments: limit(100).min(1),
    development_environments: limit(100),
  })
  .strict();
export type TenantLimits = z.output<typeof tenantLimits>;

export const DEFAULT_TENANT_LIMITS: TenantLimits = {
  users: 10,
  production_environments: 1,
  development_environments: 2,
};

/** What a tenant may have (docs/http.md 2.2): what the setting says, over the defaults. */
export function limitsOf({ limits }: Pick<TenantRow, 'limits'>): TenantLimits {
  return { ...DEFAULT_TENANT_LIMITS, ...givenOf(tenantLimits.partial().parse(limits ?? {})) };
}
