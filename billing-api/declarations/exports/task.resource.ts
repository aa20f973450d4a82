import { z } from 'zod';
import {
  instant,
  integer,
  json,
  nullable,
  oneOf,
  safeInteger,
  text,
  hidden,
  withDefault,
} from '../../records/columns.js';
import type { DateTime, ListDto, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';
import { EXPORTED, type Exported } from './scheduled-task.resource.js';

const TASK_STATUSES = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const;

const partitionEnds = z.array(
  z.object({ log: z.string(), partition: z.number().int(), countedBelow: z.number().int() }),
);
const countedUntil = z.object({
  ends: partitionEnds,
  /** Every event that was received before it lies below the ends; null where none was. */
  dataUntil: z.number().nullable(),
  /**
   * The last entry of the audit trail that counts; every later one was committed later. Null where
   * a release that exported by instants alone fixed it.
   */
  lastEntry: z.number().int().nullable().default(null),
});
/** Up to where things count in a file, and in the one before it; null for the first file. */
const countedWindow = countedUntil.extend({ since: countedUntil.nullable() });
export type CountedWindow = z.output<typeof countedWindow>;

/** The export of one window. */
export const TASKS = defineResource({
  name: 'task',
  idPrefix: 'task',
  table: 'tasks',
  columns: {
    task_type: oneOf(['EXPORT']),
    entity_type: oneOf(EXPORTED),
    task_status: oneOf(TASK_STATUSES),
    scheduled_task_id: text,
    start_time: instant,
    end_time: instant,
    attempts: hidden(withDefault(integer)),
    counted: hidden(nullable(json(countedWindow))),
    file_url: nullable(text),
    file_sha256: nullable(text),
    manifest_url: nullable(text),
    record_count: nullable(safeInteger),
    late_count: nullable(safeInteger),
    error: nullable(text),
    started_at: nullable(instant),
    completed_at: nullable(instant),
  },
  removal: null,
});
export type TaskRow = RecordOf<typeof TASKS>;

/** The export of one window by a scheduled task. */
export interface TaskDto extends RecordDto {
  task_type: 'EXPORT';
  entity_type: Exported;
  task_status: (typeof TASK_STATUSES)[number];
  scheduled_task_id: string;
  /** The window: what has this instant is in it. */
  start_time: DateTime;
  /** What has this instant is in the next window. */
  end_time: DateTime;
  /** Where the file is; null until it is written. */
  file_url: string | null;
  /** Of the file as it lies in the store. */
  file_sha256: string | null;
  /** Where its manifest is, with counts, sums and checksum. */
  manifest_url: string | null;
  /** Rows of the file without its header. @isInt */
  record_count: number | null;
  /** Those of them that tell of a time before the window. @isInt */
  late_count: number | null;
  /** Why the last attempt has failed. */
  error: string | null;
  started_at: DateTime | null;
  completed_at: DateTime | null;
}

/** @example {"download_url": "https://example-exports.s3.eu-central-1.amazonaws.com/invoice.csv"} */
export interface TaskDownloadDto {
  /** Answers the file to whoever has it, for 15 minutes. */
  download_url: string;
}

export interface TaskListDto extends ListDto<TaskDto> {}

export function taskToDto(row: TaskRow): TaskDto {
  return recordToDto(TASKS, row);
}
