import { formatInstant } from '../../../contract/instant.js';
import { instantToDto, type DateTime } from '../../records/record-dto.js';
import type { SystemEventRow } from '../../webhooks/system-events/system-event.js';
import type { WebhookPayload } from './webhook-payloads.js';

/** Something that happened to a record, stored together with the change that caused it. */
export interface SystemEventDto {
  id: string;
  /** 1, 2, 3 … in every environment, without gaps. @isInt */
  sequence: number;
  /** @example "feature.created" */
  event_name: string;
  entity_type: string;
  entity_id: string;
  /** As of the change, and as endpoints receive it. */
  payload: WebhookPayload;
  /** When it was handed to the webhook endpoints; null as long as it was not. */
  published_at: DateTime | null;
  /** @isInt */
  failure_count: number;
  failure_reason: string | null;
  created_at: DateTime;
}

export interface SystemEventListDto {
  items: SystemEventDto[];
  /** What to send as `after` for the next page, or later for what has happened since. @isInt */
  next_after: number;
  has_more: boolean;
}

export function systemEventToDto(row: SystemEventRow): SystemEventDto {
  return {
    ...row,
    // Fixed at the change, by code that wrote one of these.
    payload: row.payload as unknown as WebhookPayload,
    published_at: instantToDto(row.published_at),
    created_at: formatInstant(row.created_at),
  };
}
