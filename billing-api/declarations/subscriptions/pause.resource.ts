import { PAUSE } from '../../domain/lifecycle/subscription-lifecycle.js';
import { hidden, instant, nullable, oneOf, recordVersion, text } from '../../records/columns.js';
import type { DateTime, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

/** `period_end`: from the end of the running period on, whose next one is not charged then. */
export const PAUSE_MODES = ['immediate', 'scheduled', 'period_end'] as const;
export type PauseMode = (typeof PAUSE_MODES)[number];
export const RESUME_MODES = ['immediate', 'scheduled'] as const;
export type ResumeMode = (typeof RESUME_MODES)[number];

/** A time in which a subscription is not billed (docs/domain.md 26). */
export const PAUSES = defineResource({
  name: 'pause',
  idPrefix: 'pause',
  table: 'subscription_pauses',
  columns: {
    subscription_id: text,
    pause_mode: oneOf(PAUSE_MODES),
    resume_mode: nullable(oneOf(RESUME_MODES)),
    pause_status: oneOf(PAUSE.states),
    pause_start: instant,
    pause_end: nullable(instant),
    ends_at: hidden(nullable(instant)),
    resumed_at: nullable(instant),
    original_period_start: instant,
    original_period_end: instant,
    reason: nullable(text),
    version: recordVersion,
  },
  removal: null,
  lifecycle: { column: 'pause_status', of: PAUSE },
});
export type PauseRow = RecordOf<typeof PAUSES>;

/** A time in which a subscription is not billed. */
export interface PauseDto extends RecordDto {
  subscription_id: string;
  pause_mode: PauseMode;
  /** How it was resumed, or is to be; null when it ends by itself, or nobody has said. */
  resume_mode: ResumeMode | null;
  pause_status: 'scheduled' | 'active' | 'completed' | 'cancelled';
  pause_start: DateTime;
  /** Null: until it is resumed. */
  pause_end: DateTime | null;
  resumed_at: DateTime | null;
  /** The period that it began in, as it was before. */
  original_period_start: DateTime;
  original_period_end: DateTime;
  reason: string | null;
}

export function pauseToDto(row: PauseRow): PauseDto {
  return recordToDto(PAUSES, row);
}
