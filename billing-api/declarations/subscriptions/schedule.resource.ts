import { z } from 'zod';
import { SCHEDULE } from '../../domain/lifecycle/subscription-lifecycle.js';
import {
  hidden,
  instant,
  json,
  nullable,
  oneOf,
  recordVersion,
  text,
} from '../../records/columns.js';
import type { DateTime, ListDto, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

export const SCHEDULE_TYPES = ['plan_change', 'cancellation'] as const;

/** Members of a request, or of a subscription: texts, numbers and truths by name. */
const members = z.record(z.string(), z.unknown());

/** A change of a subscription that waits for its day (docs/domain.md 24.4, 25.5). */
export const SCHEDULES = defineResource({
  name: 'schedule',
  idPrefix: 'sub_sched',
  table: 'subscription_schedules',
  columns: {
    subscription_id: text,
    schedule_type: oneOf(SCHEDULE_TYPES),
    schedule_status: oneOf(SCHEDULE.states),
    scheduled_at: instant,
    configuration: json(members),
    previous: hidden(json(members)),
    executed_at: nullable(instant),
    cancelled_at: nullable(instant),
    error: nullable(text),
    version: recordVersion,
  },
  removal: null,
  lifecycle: { column: 'schedule_status', of: SCHEDULE },
});
export type ScheduleRow = RecordOf<typeof SCHEDULES>;

/** A change of a subscription that waits for its day, or has had it. */
export interface ScheduleDto extends RecordDto {
  subscription_id: string;
  schedule_type: (typeof SCHEDULE_TYPES)[number];
  schedule_status: 'pending' | 'executing' | 'executed' | 'failed' | 'cancelled';
  scheduled_at: DateTime;
  /** What was asked for. */
  configuration: Record<string, unknown>;
  executed_at: DateTime | null;
  cancelled_at: DateTime | null;
  /** Why it could not be done. */
  error: string | null;
}

/** A schedule that was cancelled. */
export interface CancelledScheduleDto extends ScheduleDto {
  message: string;
}

export interface ScheduleListDto extends ListDto<ScheduleDto> {
  /** The same as `items`, by the name that clients of other systems know (docs/http.md 18). */
  schedules: ScheduleDto[];
  /** How many `schedules` has. @isInt */
  count: number;
}

export function scheduleToDto(row: ScheduleRow): ScheduleDto {
  return recordToDto(SCHEDULES, row);
}
