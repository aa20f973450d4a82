import { sql } from 'slonik';
import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { noRows } from '../../../sql/columns.js';
import { CURRENT_ENVIRONMENT, isOfEnvironment } from '../../records/conditions.js';
import { authorOf } from '../../records/occasion.js';
import type { ReadUnit, Unit } from '../../records/unit.js';
import { lockOwnTenant, readOwnTenant, updateOwnTenant } from '../tenants/tenants-store.js';

/** What the last PUT said of a setting. */
export type StoredSetting = Readonly<Record<string, unknown>>;

const settingRow = z.object({ value: z.record(z.unknown()) });

/** The limits belong to the tenant: they count its users and environments. */
const OF_TENANT = 'tenant_limits';

/** Whether only an operator sets it: what a tenant may have is not for the tenant to say. */
export function isOperatorsSetting(key: string): boolean {
  return key === OF_TENANT;
}

/** What is stored of a setting; null when its defaults apply. */
export async function findSetting(unit: ReadUnit, key: string): Promise<StoredSetting | null> {
  if (key === OF_TENANT) return (await readOwnTenant(unit)).limits;
  const row = await unit.tx.maybeOne(sql.type(settingRow)`
    SELECT value FROM settings WHERE key = ${key} AND ${isOfEnvironment}`);
  return row?.value ?? null;
}

async function writeSetting({ tx, now, actor }: Unit, key: string, value: StoredSetting) {
  const text = JSON.stringify(value);
  const at = formatInstant(now);
  await tx.query(sql.type(noRows)`
    INSERT INTO settings (tenant_id, environment_id, key, value, updated_at, updated_by)
    VALUES (${CURRENT_ENVIRONMENT}, ${key}, ${text}::jsonb, ${at}, ${authorOf(actor)})
    ON CONFLICT (tenant_id, environment_id, key) DO UPDATE
    SET value = excluded.value, updated_at = excluded.updated_at, updated_by = excluded.updated_by`);
}

/**
 * Stores a setting, or removes it (null), and answers what was stored before. Whoever writes a
 * setting of the tenant waits until the one before has ended, so that nothing is lost from the
 * audit trail.
 */
export async function replaceSetting(
  unit: Unit,
  key: string,
  value: StoredSetting | null,
): Promise<StoredSetting | null> {
  const tenant = await lockOwnTenant(unit);
  if (key === OF_TENANT) {
    await updateOwnTenant(unit, tenant, { limits: value });
    return tenant.limits;
  }
  const before = await findSetting(unit, key);
  if (value !== null) await writeSetting(unit, key, value);
  else {
    await unit.tx.query(sql.type(noRows)`
      DELETE FROM settings WHERE key = ${key} AND ${isOfEnvironment}`);
  }
  return before;
}
