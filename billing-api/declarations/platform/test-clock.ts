import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn, integerColumn } from '../../../sql/columns.js';
import { instantToDto, type DateTime } from '../../records/record-dto.js';

export const testClockRow = z.object({
  id: z.string(),
  name: z.string().nullable(),
  now: instantColumn,
  clock_status: z.enum(['ready', 'advancing', 'failed']),
  advance_to: instantColumn.nullable(),
  events_before: integerColumn,
  failure_reason: z.string().nullable(),
  created_at: instantColumn,
});
export type TestClockRow = z.output<typeof testClockRow>;

/** The clock of a development environment, which shows what it is told. */
export interface TestClockDto {
  id: string;
  name: string | null;
  /** What *now* is in the environment. */
  now: DateTime;
  /** While it is `advancing`, poll it. After `failed`, it stands where the advance has stopped. */
  status: 'ready' | 'advancing' | 'failed';
  /** Where the advance leads that is under way; null when none is. */
  advance_to: DateTime | null;
  failure_reason: string | null;
  /** What the last advance has done, in order; more of it is at /webhooks/events. */
  happened: HappenedDto[];
  /** Send it as `after` to /webhooks/events for the rest. @isInt */
  next_after: number;
  has_more: boolean;
  created_at: DateTime;
}

/** @example {"items": []} */
export interface TestClockListDto {
  items: TestClockDto[];
}

/** Something that happened to a record while the clock advanced. */
export interface HappenedDto {
  /** @isInt */
  sequence: number;
  event_name: string;
  entity_type: string;
  entity_id: string;
  created_at: DateTime;
}

/** @example {"name": "A year of Acme", "now": "2026-01-01T00:00:00Z"} */
export interface CreateTestClockBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  now: DateTime;
}

/** @example {"now": "2026-02-01T00:00:00Z"} */
export interface AdvanceTestClockBody {
  /** Later than what the clock shows, and at most two years. */
  now: DateTime;
}

/** What a clock has made happen, one page of it. */
export type Happened = {
  readonly rows: readonly (Omit<HappenedDto, 'created_at'> & { readonly created_at: number })[];
  readonly nextAfter: number;
  readonly hasMore: boolean;
};

/** A clock with what its last advance has done. */
export function testClockToDto(row: TestClockRow, happened: Happened): TestClockDto {
  return {
    id: row.id,
    name: row.name,
    now: formatInstant(row.now),
    status: row.clock_status,
    advance_to: instantToDto(row.advance_to),
    failure_reason: row.failure_reason,
    happened: happened.rows.map((event) => ({
      ...event,
      created_at: formatInstant(event.created_at),
    })),
    next_after: happened.nextAfter,
    has_more: happened.hasMore,
    created_at: formatInstant(row.created_at),
  };
}
