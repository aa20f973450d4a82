import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn } from '../../../sql/columns.js';
import type { DateTime, PageRequest, ListDto } from '../../records/record-dto.js';

export const jobRow = z.object({
  id: z.string(),
  name: z.string(),
  key: z.string(),
  input: z.record(z.unknown()),
  status: z.enum(['waiting', 'running', 'parked']),
  attempts: z.number().int(),
  due_at: instantColumn,
  run_at: instantColumn,
  error: z.string().nullable(),
  parked_at: instantColumn.nullable(),
  created_at: instantColumn,
});
export type JobRow = z.output<typeof jobRow>;

/** Work of the environment that is not done yet. One that is done is not listed any more. */
export interface JobDto {
  id: string;
  /** What is done, as docs/operations.md names it. */
  job: string;
  /** At most one of a job and a key runs at any time. */
  key: string;
  /** What it is done with. */
  input: { [member: string]: unknown };
  /** A parked one failed too often, and is tried no more until somebody runs it again. */
  status: 'waiting' | 'running' | 'parked';
  /** Tries so far, the running one included. @isInt */
  attempts: number;
  /** When it fell due. */
  due_at: DateTime;
  /** When it is tried next, at the earliest; null for one that is running or parked. */
  next_attempt_at: DateTime | null;
  /** Why the last try failed. */
  error: string | null;
  parked_at: DateTime | null;
  created_at: DateTime;
}

export interface JobListDto extends ListDto<JobDto> {}

/** Query of GET /jobs. */
export interface JobsQuery extends PageRequest {
  status?: 'waiting' | 'running' | 'parked';
  /** @maxLength 100 */
  job?: string;
}

export function jobToDto(row: JobRow): JobDto {
  const { name, run_at: runAt, due_at: dueAt, parked_at: parkedAt, ...rest } = row;
  return {
    ...rest,
    job: name,
    due_at: formatInstant(dueAt),
    next_attempt_at: row.status === 'waiting' ? formatInstant(runAt) : null,
    parked_at: parkedAt === null ? null : formatInstant(parkedAt),
    created_at: formatInstant(row.created_at),
  };
}
