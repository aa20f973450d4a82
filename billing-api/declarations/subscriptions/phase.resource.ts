import { hidden, instant, nullable, recordVersion, text } from '../../records/columns.js';
import type { DateTime, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

/** A part of the life of a subscription with line items of its own (docs/domain.md 28). */
export const PHASES = defineResource({
  name: 'phase',
  idPrefix: 'phase',
  table: 'subscription_phases',
  columns: {
    subscription_id: text,
    start_date: instant,
    end_date: nullable(instant),
    /** When its begin was told. */
    begun_at: hidden(nullable(instant)),
    version: recordVersion,
  },
  removal: 'deleted',
});
export type PhaseRow = RecordOf<typeof PHASES>;

/** A part of the life of a subscription with line items of its own. */
export interface PhaseDto extends RecordDto {
  subscription_id: string;
  start_date: DateTime;
  /** Null while the subscription has no end. */
  end_date: DateTime | null;
}

export function phaseToDto(row: PhaseRow): PhaseDto {
  return recordToDto(PHASES, row);
}
