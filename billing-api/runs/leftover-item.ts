import { z } from 'zod';
import { formatInstant } from '../../contract/instant.js';
import { instantColumn } from '../../sql/columns.js';
import { instantToDto, type DateTime, type ListDto } from '../records/record-dto.js';

const KINDS = [
  ...(['late_renewal', 'late_draft', 'held_draft', 'missing_invoice'] as const),
  ...(['late_overdue', 'future_period'] as const),
] as const;

export const leftoverRow = z.object({
  kind: z.enum(KINDS),
  subscription_id: z.string().nullable(),
  customer_id: z.string().nullable(),
  invoice_id: z.string().nullable(),
  period_start: instantColumn.nullable(),
  period_end: instantColumn.nullable(),
  since: instantColumn,
  age_seconds: z.number(),
  meter_id: z.string().nullable(),
  job_id: z.string().nullable(),
});
export type LeftoverRow = z.output<typeof leftoverRow>;

/** Something that the billing run has not collected. */
export interface LeftoverDto {
  /**
   * A period that ended an hour ago or longer and is not renewed; a draft whose delay ended then;
   * one that waits for a meter which is being backfilled; a period that was closed without the
   * invoice that has to close it; an unpaid invoice whose due date passed an hour ago or longer,
   * and of which no overdue event was sent; a running period that begins in the future.
   */
  kind:
    | 'late_renewal'
    | 'late_draft'
    | 'held_draft'
    | 'missing_invoice'
    | 'late_overdue'
    | 'future_period';
  subscription_id: string | null;
  /** Whom the subscription or the draft belongs to. */
  customer_id: string | null;
  /** The draft or the unpaid invoice; null for a period. */
  invoice_id: string | null;
  period_start: DateTime | null;
  period_end: DateTime | null;
  /** When the run could have collected it; of a period in the future as long ago as it is ahead. */
  since: DateTime;
  /** By the clock of the environment. @isInt */
  age_seconds: number;
  /** The meter that a held draft waits for; one of them where there are several. */
  meter_id: string | null;
  /** The job that was set aside for it, of which GET /jobs tells the reason; null for none. */
  job_id: string | null;
}

export interface LeftoverListDto extends ListDto<LeftoverDto> {}

export function leftoverToDto(row: LeftoverRow): LeftoverDto {
  return {
    ...row,
    period_start: instantToDto(row.period_start),
    period_end: instantToDto(row.period_end),
    since: formatInstant(row.since),
    age_seconds: Math.floor(row.age_seconds),
  };
}
