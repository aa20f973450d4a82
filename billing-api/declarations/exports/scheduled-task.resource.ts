import { z } from 'zod';
import { EXPORT_INTERVALS } from '../../domain/outward/export-windows.js';
import {
  flag,
  hidden,
  instant,
  json,
  nullable,
  oneOf,
  recordVersion,
  text,
  unaudited,
} from '../../records/columns.js';
import type { DateTime, ListDto, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';
import { CONNECTIONS } from './connection.resource.js';

export const EXPORTED = [
  'events',
  'invoice',
  'credit_topups',
  'credit_usage',
  'usage_analytics',
] as const;
export type Exported = (typeof EXPORTED)[number];

const metadataField = z.object({
  entity_type: z.enum(['customer', 'wallet']),
  field_key: z.string(),
  column_name: z.string(),
});

const jobConfig = z.object({
  bucket: z.string(),
  region: z.string(),
  key_prefix: z.string().nullable(),
  endpoint_url: z.string().nullable(),
  use_path_style: z.boolean(),
  compression: z.enum(['none', 'gzip']),
  encryption: z.enum(['AES256', 'aws:kms', 'aws:kms:dsse']),
  export_metadata_fields: z.array(metadataField),
});
export type JobConfig = z.output<typeof jobConfig>;

export const SCHEDULED_TASKS = defineResource({
  name: 'scheduled task',
  idPrefix: 'sched',
  table: 'scheduled_tasks',
  columns: {
    connection_id: text,
    entity_type: oneOf(EXPORTED),
    interval: oneOf(EXPORT_INTERVALS),
    enabled: flag,
    job_config: json(jobConfig),
    queued_until: hidden(unaudited(nullable(instant))),
    version: recordVersion,
  },
  references: { connection_id: CONNECTIONS },
  removal: 'deleted',
});
export type ScheduledTaskRow = RecordOf<typeof SCHEDULED_TASKS>;

/** A member of the metadata of a customer or wallet that becomes a column of the file. */
export interface ExportMetadataFieldDto {
  entity_type: 'customer' | 'wallet';
  field_key: string;
  column_name: string;
}

/** Where and how files are written. */
export interface JobConfigDto {
  bucket: string;
  region: string;
  key_prefix: string | null;
  /** Null for the one of Amazon S3. */
  endpoint_url: string | null;
  use_path_style: boolean;
  compression: 'none' | 'gzip';
  encryption: 'AES256' | 'aws:kms' | 'aws:kms:dsse';
  export_metadata_fields: ExportMetadataFieldDto[];
}

/** What is exported to a store again and again. */
export interface ScheduledTaskDto extends RecordDto {
  connection_id: string;
  entity_type: Exported;
  interval: (typeof EXPORT_INTERVALS)[number];
  enabled: boolean;
  job_config: JobConfigDto;
}

export interface ScheduledTaskListDto extends ListDto<ScheduledTaskDto> {}

/** As `ExportMetadataFieldDto`; `column_name` is `field_key` when absent. */
export interface ExportMetadataFieldBody {
  entity_type: 'customer' | 'wallet';
  /** @minLength 1 @maxLength 255 */
  field_key: string;
  /** @minLength 1 @maxLength 255 */
  column_name?: string;
}

export interface JobConfigBody {
  /** @pattern ^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$ */
  bucket: string;
  /** @minLength 1 @maxLength 50 */
  region: string;
  /** @maxLength 500 */
  key_prefix?: string;
  /** A public https address; that of Amazon S3 when absent. @maxLength 500 */
  endpoint_url?: string;
  /** Whether the bucket stands in the path and not in the name of the host. @default false */
  use_path_style?: boolean;
  /** @default "none" */
  compression?: 'none' | 'gzip';
  /** @default "AES256" */
  encryption?: 'AES256' | 'aws:kms' | 'aws:kms:dsse';
  /**
   * Of credit_usage those of customer and wallet, of usage_analytics those of customer; others have
   * none.
   * @maxItems 50
   */
  export_metadata_fields?: ExportMetadataFieldBody[];
}

/**
 * @example {"connection_id": "conn_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "entity_type": "invoice",
 *   "interval": "hourly", "enabled": true, "job_config": {"bucket": "example-exports", "region":
 *   "eu-central-1", "compression": "gzip"}}
 */
export interface CreateScheduledTaskBody {
  connection_id: string;
  entity_type: Exported;
  /** `custom` is reserved. */
  interval: (typeof EXPORT_INTERVALS)[number] | 'custom';
  /** @default false */
  enabled?: boolean;
  job_config: JobConfigBody;
}

/** @example {"enabled": false} */
export interface ChangeScheduledTaskBody {
  enabled: boolean;
}

/** @example {"start_time": "2026-01-01T00:00:00Z", "end_time": "2026-02-01T00:00:00Z"} */
export interface RunScheduledTaskBody {
  /** With `end_time`; the last closed window of the task when both are absent. */
  start_time?: DateTime;
  end_time?: DateTime;
}

/** A run that has begun. */
export interface StartedRunDto {
  /** The id of the task, to be polled at /tasks/{id}. */
  workflow_id: string;
  message: string;
  start_time: DateTime;
  end_time: DateTime;
  mode: 'custom' | 'last_closed';
}

export function scheduledTaskToDto(row: ScheduledTaskRow): ScheduledTaskDto {
  return recordToDto(SCHEDULED_TASKS, row);
}
