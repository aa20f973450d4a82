import { sql, type FragmentSqlToken } from 'slonik';
import { formatInstant } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import { tenantRow, type TenantRow } from '../../declarations/platform/tenant.js';
import type { StatementUnit, Unit } from '../../records/unit.js';

const NO_LOCK = sql.fragment``;
const FOR_CHANGE = sql.fragment`FOR NO KEY UPDATE`;

function selectTenant({ tx }: StatementUnit, lock: FragmentSqlToken): Promise<TenantRow> {
  return tx.one(sql.type(tenantRow)`
    SELECT * FROM tenants WHERE id = current_setting('minutebook.tenant_id', true) ${lock}`);
}

/** The tenant of the unit. */
export function readOwnTenant(unit: StatementUnit): Promise<TenantRow> {
  return selectTenant(unit, NO_LOCK);
}

/** The tenant of the unit; until the unit ends, nobody else counts or changes what it may have. */
export function lockOwnTenant(unit: StatementUnit): Promise<TenantRow> {
  return selectTenant(unit, FOR_CHANGE);
}

export type TenantPatch = {
  readonly name?: string;
  readonly status?: TenantRow['status'];
  readonly billing_details?: TenantRow['billing_details'];
  readonly metadata?: Readonly<Record<string, string | number | boolean>>;
  readonly limits?: Readonly<Record<string, unknown>> | null;
};

/** Writes these columns of a tenant that is locked. */
export function updateOwnTenant(
  { tx, now }: Unit,
  row: TenantRow,
  patch: TenantPatch,
): Promise<TenantRow> {
  const { name, status, billing_details, metadata, limits } = { ...row, ...patch };
  return tx.one(sql.type(tenantRow)`
    UPDATE tenants SET name = ${name}, status = ${status}, billing_details = ${JSON.stringify(billing_details)}::jsonb,
      metadata = ${JSON.stringify(metadata)}::jsonb,
      limits = ${limits === null ? null : JSON.stringify(limits)}::jsonb,
      updated_at = ${formatInstant(now)}::timestamptz
    WHERE id = current_setting('minutebook.tenant_id', true)
    RETURNING *`);
}

/** Adds the tenant of the unit, which has entered it before it exists: somebody signs up. */
export async function insertOwnTenant({ tx, now }: Unit, name: string): Promise<TenantRow> {
  const at = formatInstant(now);
  await tx.query(sql.type(noRows)`
    INSERT INTO tenants (id, name, created_at, updated_at)
    VALUES (current_setting('minutebook.tenant_id', true), ${name}, ${at}, ${at})`);
  return readOwnTenant({ tx });
}
