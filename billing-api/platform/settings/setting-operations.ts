import type { ZodIssue } from 'zod';
import type { Occasion } from '../../records/occasion.js';
import { invalid, notFound, Refusal } from '../../records/refusal.js';
import {
  mustRead,
  mustWrite,
  type ReadDependencies,
  type Unit,
  type WriteDependencies,
} from '../../records/unit.js';
import { settingNamed } from './setting-definitions.js';
import {
  findSetting,
  isOperatorsSetting,
  replaceSetting,
  type StoredSetting,
} from './settings-store.js';

export interface SettingDto {
  /** @example "invoice_config" */
  key: string;
  /** What applies: what was set, over the defaults. */
  value: { [member: string]: unknown };
}

/** @example {"value": {"prefix": "ACME", "due_date_days": 14}} */
export interface ChangeSettingBody {
  /** Members that are left out get their defaults. */
  value: { [member: string]: unknown };
}

/** The members that a setting has, where its defaults tell them. */
function membersOf(key: string): string {
  const names = Object.keys(settingNamed(key)?.defaults ?? {});
  return names.length === 0 ? ': leave it out' : `, which has ${names.join(', ')}`;
}

/** The path of a problem, and what is wrong there. */
function problemOf(key: string, issue: ZodIssue): readonly [member: string, problem: string] {
  const place = ['value', ...issue.path].join('.');
  if (issue.code !== 'unrecognized_keys') return [place, issue.message];
  return [`${place}.${issue.keys[0] ?? ''}`, `is not a member of this setting${membersOf(key)}`];
}

function settingToDto(key: string, stored: StoredSetting | null): SettingDto {
  return { key, value: { ...settingNamed(key)?.defaults, ...stored } };
}

/** Why the occasion may not write a setting; null when it may. */
function writeRefusal({ actor }: Occasion, key: string): Refusal | null {
  if (settingNamed(key) === null) return notFound('setting', key);
  if (!isOperatorsSetting(key) || actor.kind === 'operator') return null;
  const message = `${key} is set by the operator of the installation: ask there for higher limits`;
  return new Refusal('permission_denied', message);
}

/** GET /settings/{key}. */
export async function readSetting(
  dependencies: ReadDependencies,
  occasion: Occasion,
  key: string,
): Promise<SettingDto | Refusal> {
  if (settingNamed(key) === null) return notFound('setting', key);
  return mustRead(dependencies, occasion, async (unit) =>
    settingToDto(key, await findSetting(unit, key)),
  );
}

/** Stores the value, or the defaults when it is null, and notes it in the audit trail. */
async function storeSetting(
  unit: Unit,
  key: string,
  value: StoredSetting | null,
): Promise<SettingDto> {
  const before = await replaceSetting(unit, key, value);
  const after = settingToDto(key, value);
  const isNothing = value === null && before === null;
  if (!isNothing) {
    unit.changes.push({
      entityType: 'setting',
      entityId: key,
      action: value === null ? 'deleted' : 'updated',
      before: settingToDto(key, before),
      after,
    });
  }
  return after;
}

/** PUT /settings/{key}; an operator also writes what a tenant may have. */
export async function changeSetting(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { key, body }: { readonly key: string; readonly body: ChangeSettingBody },
): Promise<SettingDto | Refusal> {
  const refusal = writeRefusal(occasion, key);
  if (refusal !== null) return refusal;
  const read = settingNamed(key)?.schema.safeParse(body.value);
  if (read === undefined) return notFound('setting', key);
  if (!read.success) {
    return invalid(Object.fromEntries(read.error.issues.map((issue) => problemOf(key, issue))));
  }
  return mustWrite(dependencies, occasion, (unit) => storeSetting(unit, key, read.data));
}

/** DELETE /settings/{key}: the defaults apply again. */
export async function resetSetting(
  dependencies: WriteDependencies,
  occasion: Occasion,
  key: string,
): Promise<SettingDto | Refusal> {
  const refusal = writeRefusal(occasion, key);
  if (refusal !== null) return refusal;
  await mustWrite(dependencies, occasion, (unit) => storeSetting(unit, key, null));
  return settingToDto(key, null);
}
