import {
  instant,
  integer,
  nullable,
  oneOf,
  safeInteger,
  text,
  hidden,
  withDefault,
} from '../../records/columns.js';
import type { DateTime, PaginationDto, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';
import { EXPORTED, type Exported } from './scheduled-task.resource.js';

const TASK_STATUSES = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED'] as const;

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
    file_url: nullable(text),
    record_count: nullable(safeInteger),
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
  /** Rows of the file without its header. @isInt */
  record_count: number | null;
  /** Why the last attempt has failed. */
  error: string | null;
  started_at: DateTime | null;
  completed_at: DateTime | null;
}

export interface TaskListDto {
  items: TaskDto[];
  pagination: PaginationDto;
}

export function taskToDto(row: TaskRow): TaskDto {
  return recordToDto(TASKS, row);
}
