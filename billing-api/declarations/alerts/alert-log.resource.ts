import { z } from 'zod';
import { ALERT_STATES } from '../../domain/wallet/alert-state.js';
import { json, oneOf, text } from '../../records/columns.js';
import type { DateTime, ListDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';
import type { AlertSettingsDto } from './alert-settings.js';

const WATCHED = ['wallet', 'feature', 'subscription', 'subscription_line_item', 'group'] as const;
const TYPES = [
  'credit_balance',
  'ongoing_balance',
  'feature_wallet_balance',
  'subscription_spend',
  'line_item_spend',
  'group_spend',
] as const;

/** Each change of the state of an alert. */
export const ALERT_LOGS = defineResource({
  name: 'alert',
  idPrefix: 'alert',
  table: 'alert_logs',
  columns: {
    entity_type: oneOf(WATCHED),
    entity_id: text,
    alert_type: oneOf(TYPES),
    alert_status: oneOf(ALERT_STATES),
    alert_info: json(z.record(z.unknown())),
  },
  removal: null,
  // It tells of a change itself.
  isAudited: false,
});
export type AlertLogRow = RecordOf<typeof ALERT_LOGS>;
export type AlertType = AlertLogRow['alert_type'];

/** As the event of the change told it. */
export interface AlertInfoDto {
  /** The levels of a wallet, whose balance is watched. */
  alert_settings?: AlertSettingsDto;
  [member: string]: unknown;
}

/** One change of the state of an alert. */
export interface AlertDto {
  id: string;
  entity_type: 'wallet' | 'feature' | 'subscription' | 'subscription_line_item' | 'group';
  entity_id: string;
  alert_type: (typeof TYPES)[number];
  alert_status: 'ok' | 'info' | 'warning' | 'in_alarm';
  alert_info: AlertInfoDto;
  created_at: DateTime;
}

export interface AlertListDto extends ListDto<AlertDto> {}

export function alertToDto(row: AlertLogRow): AlertDto {
  const { id, entity_type, entity_id, alert_type, alert_status, alert_info, created_at } =
    recordToDto(ALERT_LOGS, row);
  return { id, entity_type, entity_id, alert_type, alert_status, alert_info, created_at };
}
