import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import type { BillingDatabase } from '../records/unit.js';

/** More are found by the next look: each of them is enough work until then. */
const ENVIRONMENTS_MAX = 10_000;

const environmentRow = z.object({ tenant_id: z.string(), environment_id: z.string() });

function environmentOf(row: z.infer<typeof environmentRow>): Environment {
  return { tenantId: row.tenant_id, environmentId: row.environment_id };
}

/**
 * The environments in which a subscription is to be renewed or a draft to be finalized, each by its
 * own clock. @throws DependencyError when PostgreSQL fails.
 */
export async function findEnvironmentsDue(
  { slonik }: BillingDatabase,
  now: InstantMs,
): Promise<readonly Environment[]> {
  const rows = await slonik.any(sql.type(environmentRow)`
    SELECT tenant_id, environment_id
    FROM list_billing_due(${formatInstant(now)}::timestamptz, ${ENVIRONMENTS_MAX})`);
  return rows.map(environmentOf);
}

/** Work that no single due instant tells of (`list_environments_with`). */
export type EnvironmentWork = 'thresholds' | 'drafts' | 'wallet-alerts' | 'spend-alerts';

/** The environments that have such work. @throws DependencyError when PostgreSQL fails. */
export async function findEnvironmentsWith(
  { slonik }: BillingDatabase,
  work: EnvironmentWork,
): Promise<readonly Environment[]> {
  const rows = await slonik.any(sql.type(environmentRow)`
    SELECT tenant_id, environment_id FROM list_environments_with(${work}, ${ENVIRONMENTS_MAX})`);
  return rows.map(environmentOf);
}
