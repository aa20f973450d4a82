import { alertSettings, type AlertSettingsBody, type AlertSettingsDto } from './alert-settings.js';
import { oneOf, recordVersion, text } from '../../records/columns.js';
import type { ListDto, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

/** Whose spend is watched (docs/domain.md 31). A feature has its alerts in a member of its own. */
const ENTITY_TYPES = ['subscription', 'subscription_line_item', 'group'] as const;

export const ALERT_SETTINGS = defineResource({
  name: 'alert setting',
  idPrefix: 'alert_set',
  table: 'alert_settings',
  columns: {
    entity_type: oneOf(ENTITY_TYPES),
    entity_id: text,
    alert_settings: alertSettings,
    version: recordVersion,
  },
  unique: { alert_settings_of_entity: 'entity_id' },
  removal: 'archived',
});
export type AlertSettingRow = RecordOf<typeof ALERT_SETTINGS>;

/** The alerts on what a subscription, one of its line items, or a group spends. */
export interface AlertSettingDto extends RecordDto {
  entity_type: (typeof ENTITY_TYPES)[number];
  entity_id: string;
  alert_settings: AlertSettingsDto;
}

export interface AlertSettingListDto extends ListDto<AlertSettingDto> {}

/**
 * @example {"entity_type": "subscription", "entity_id": "subs_01KAHZ3M4N5P6Q7R8S9T0V1W2X",
 *   "alert_settings": {"critical": {"condition": "above", "threshold": 1000}, "warning":
 *   {"condition": "above", "threshold": 800}}}
 */
export interface CreateAlertSettingBody {
  /** `feature` is refused: the alerts of a feature are its own member `alert_settings`. */
  entity_type: (typeof ENTITY_TYPES)[number] | 'feature';
  /** One that is published, and has no setting yet. @minLength 1 @maxLength 255 */
  entity_id: string;
  alert_settings: AlertSettingsBody;
}

/** @example {"alert_settings": {"critical": {"condition": "above", "threshold": 1200}}} */
export interface ChangeAlertSettingBody {
  /** Replaced as a whole. */
  alert_settings?: AlertSettingsBody;
}

export function alertSettingToDto(row: AlertSettingRow): AlertSettingDto {
  return recordToDto(ALERT_SETTINGS, row);
}
