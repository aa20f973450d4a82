import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../../contract/environment.js';
import { instantColumn } from '../../../sql/columns.js';
import { recordColumns, recordStatus, textKeyed } from '../../records/columns.js';
import type { BillingDatabase } from '../../records/unit.js';

const metadataColumn = recordColumns.metadata.schema;

const userRow = z.object({
  id: z.string(),
  tenant_id: z.string(),
  status: recordStatus,
  metadata: metadataColumn,
  created_at: instantColumn,
  created_by: z.string().nullable(),
  updated_at: instantColumn,
  updated_by: z.string().nullable(),
  name: z.string().nullable(),
  email: z.string().nullable(),
  type: z.enum(['user', 'service_account']),
  roles: z.array(z.string()),
  tenant_name: z.string(),
  tenant_status: z.enum(['trialing', 'active', 'suspended']),
  tenant_metadata: metadataColumn,
  tenant_billing_details: z.object({
    email: z.string().nullish(),
    help_email: z.string().nullish(),
    phone: z.string().nullish(),
    address: textKeyed(z.string().nullable()).nullish(),
  }),
  tenant_created_at: instantColumn,
  tenant_updated_at: instantColumn,
});
export type UserRow = z.output<typeof userRow>;

/**
 * A user with the tenant. Users belong to a tenant and not to an environment: the table has no
 * `environment_id`, so `defineResource` does not fit; its policy shows the users of the tenant.
 */
export async function findUser(
  database: BillingDatabase,
  environment: Environment,
  userId: string,
): Promise<UserRow | null> {
  return database.readSnapshot(environment, (transaction) =>
    transaction.maybeOne(sql.type(userRow)`
    SELECT users.*, tenants.name AS tenant_name, tenants.status AS tenant_status,
      tenants.metadata AS tenant_metadata, tenants.billing_details AS tenant_billing_details,
      tenants.created_at AS tenant_created_at, tenants.updated_at AS tenant_updated_at
    FROM users JOIN tenants ON tenants.id = users.tenant_id
    WHERE users.tenant_id = ${environment.tenantId} AND users.id = ${userId}`),
  );
}
