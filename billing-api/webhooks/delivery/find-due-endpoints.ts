import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../../contract/environment.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import type { BillingDatabase } from '../../records/unit.js';

const ENDPOINTS_MAX = 10_000;
const endpointRow = z.object({
  tenant_id: z.string(),
  environment_id: z.string(),
  endpoint_id: z.string(),
});

/** An endpoint for which something is to be sent. */
export type DueEndpoint = { readonly environment: Environment; readonly endpointId: string };

/** The endpoints of all environments for which something is to be sent, by the machine's clock. */
export async function findDueEndpoints(
  { slonik }: BillingDatabase,
  machineNow: InstantMs,
): Promise<readonly DueEndpoint[]> {
  const rows = await slonik.any(sql.type(endpointRow)`
    SELECT tenant_id, environment_id, endpoint_id
    FROM list_webhooks_due(${formatInstant(machineNow)}::timestamptz, ${ENDPOINTS_MAX})`);
  return rows.map((row) => ({
    environment: { tenantId: row.tenant_id, environmentId: row.environment_id },
    endpointId: row.endpoint_id,
  }));
}
