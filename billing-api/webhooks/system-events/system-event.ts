import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn, integerColumn } from '../../../sql/columns.js';
import type { DateTime } from '../../records/record-dto.js';
import { instantToDto } from '../../records/record-dto.js';

export const systemEventRow = z.object({
  id: z.string(),
  sequence: integerColumn,
  event_name: z.string(),
  entity_type: z.string(),
  entity_id: z.string(),
  payload: z.record(z.unknown()),
  published_at: instantColumn.nullable(),
  failure_count: z.number(),
  failure_reason: z.string().nullable(),
  created_at: instantColumn,
});
export type SystemEventRow = z.output<typeof systemEventRow>;

/** Something that happened to a record, stored together with the change that caused it. */
export interface SystemEventDto {
  id: string;
  /** 1, 2, 3 … in every environment, without gaps. @isInt */
  sequence: number;
  /** @example "feature.created" */
  event_name: string;
  entity_type: string;
  entity_id: string;
  /** As of the change: `event_type` and the record. */
  payload: { [member: string]: unknown };
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

export interface SystemEventsQuery {
  /**
   * The events with greater numbers are answered.
   * @isInt
   * @minimum 0
   * @maximum 9007199254740991
   * @default 0
   */
  after?: number;
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   * @default 100
   */
  limit?: number;
  /** @maxLength 100 */
  event_type?: string;
}

export function systemEventToDto(row: SystemEventRow): SystemEventDto {
  return {
    ...row,
    published_at: instantToDto(row.published_at),
    created_at: formatInstant(row.created_at),
  };
}
