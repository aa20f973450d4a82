import { readAlertSettings } from '../declarations/alerts/alert-settings.js';
import type { Occasion } from '../records/occasion.js';
import { changeRecord, removeRecord, type ChangeTarget } from '../records/change-record.js';
import { createRecord } from '../records/create-record.js';
import { readRecord } from '../records/find-record.js';
import { givenOf, MemberReader } from '../records/member-rules.js';
import { invalid, type Refusal } from '../records/refusal.js';
import { searchRecords } from '../records/search-records.js';
import type { SearchBodyRequest } from '../records/search-request.js';
import { readOperation, writeOperation } from '../records/operation.js';
import { writeUnit, type WriteDependencies } from '../records/unit.js';
import {
  ALERT_SETTINGS,
  type AlertSettingRow,
  type ChangeAlertSettingBody,
  type CreateAlertSettingBody,
} from '../declarations/alerts/alert-setting.resource.js';
import { HOLD_WATCHED } from './watched-entity.js';

/** POST /alerts/setting: what it watches is held meanwhile, and can have one setting only. */
export async function createAlertSetting(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { entity_type: type, entity_id: id, alert_settings: settings }: CreateAlertSettingBody,
): Promise<AlertSettingRow | Refusal> {
  if (type === 'feature') {
    const problem = 'a feature has its alerts in its member alert_settings: change that instead';
    return invalid({ entity_type: problem });
  }
  const reader = new MemberReader();
  const members = { alert_settings: readAlertSettings(reader, settings) };
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, async (unit) => {
    await HOLD_WATCHED[type](unit, id);
    return createRecord(unit, ALERT_SETTINGS, { entity_type: type, entity_id: id, ...members });
  });
}

/** GET /alerts/setting/{id}, whatever its status. */
export const readAlertSetting = readOperation((unit, id: string) =>
  readRecord(unit, ALERT_SETTINGS, id),
);

/** POST /alerts/setting/search. */
export const searchAlertSettings = readOperation((unit, request: SearchBodyRequest) =>
  searchRecords(unit, ALERT_SETTINGS, { request, conditions: [] }),
);

/** PUT /alerts/setting/{id}. */
export async function changeAlertSetting(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { target, body }: { readonly target: ChangeTarget; readonly body: ChangeAlertSettingBody },
): Promise<AlertSettingRow | Refusal> {
  const { alert_settings: settings } = body;
  const reader = new MemberReader();
  const patch = givenOf({
    alert_settings: settings === undefined ? undefined : readAlertSettings(reader, settings),
  });
  const problems = reader.refusal();
  if (problems !== null) return problems;
  return writeUnit(dependencies, occasion, (unit) =>
    changeRecord(unit, ALERT_SETTINGS, { target, change: () => patch }),
  );
}

/** DELETE /alerts/setting/{id}. */
export const archiveAlertSetting = writeOperation((unit, id: string) =>
  removeRecord(unit, ALERT_SETTINGS, { id, guards: [] }),
);
