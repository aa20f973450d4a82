import { COUNT_EVENTS } from '../../contract/aggregation.js';
import { Decimal, ONE } from '../../contract/number/decimal.js';
import type { Environment } from '../../contract/environment.js';
import { emptyUsageCell } from '../../contract/minute-values.js';
import type { UsageMinute } from '../../contract/usage-minute.js';
import type { AcceptedCount } from './count-accepted.js';
import type { BatchRange } from './batch-tables.js';

// Rows of the usage table that hold no usage but what is known of batches. Those of all batches of
// a partition have the same key, so that the table merges them (docs/internals/architecture.md
// 3.2).

/** The source of these rows: the partition of the log. */
export function sourceOf({ logId, partition }: Pick<BatchRange, 'logId' | 'partition'>): string {
  return `${logId}:${partition}`;
}

/**
 * The group of the marker that releases wrote whose markers did not merge: one row for each batch,
 * with a count of 1.
 */
export function singleMarkerGroupOf({ start, end }: BatchRange): string {
  return `${start}:${end}`;
}

/** Of what belongs to no environment, or to an unknown one. */
export const NO_ENVIRONMENT: Environment = { tenantId: '', environmentId: '' };
/** Not a meter's: its rows reach to the last column that these rows need. */
const ALL_COLUMNS = { ...COUNT_EVENTS, type: 'MIN' } as const;

/**
 * Finds markers by the sorting key of their table, without a scan; source and group belong to the
 * key, too.
 */
export const IS_MARKER_ROW = `tenant_id = '' AND environment_id = '' AND customer_key = ''
  AND meter_id = '#batch' AND generation = 0 AND minute = toDateTime64(0, 0, 'UTC')`;

/** The marker of a batch. Merged, it tells how many offsets and batches were written, and where. */
export function markerRow(range: BatchRange): UsageMinute {
  return {
    source: sourceOf(range),
    groupKey: '',
    minuteMs: 0,
    customerKey: '',
    meter: {
      environment: NO_ENVIRONMENT,
      meterId: '#batch',
      generation: 0,
      aggregation: ALL_COLUMNS,
    },
    cell: {
      ...emptyUsageCell({ uniques: false }),
      eventCount: range.end - range.start,
      valueSum: ONE,
      valueMin: new Decimal(range.start),
      valueMax: new Decimal(range.end),
    },
  };
}

/** How many events were decoded, and the end of the last batch that had any of them. */
export function acceptedRow(
  range: BatchRange,
  { environment, hourMs, eventCount }: AcceptedCount,
): UsageMinute {
  return {
    source: sourceOf(range),
    groupKey: '',
    minuteMs: hourMs,
    customerKey: '',
    meter: { environment, meterId: '#accepted', generation: 0, aggregation: ALL_COLUMNS },
    cell: {
      ...emptyUsageCell({ uniques: false }),
      eventCount,
      valueMax: new Decimal(range.end),
    },
  };
}

/** The merged markers of a partition, and the count of a marker that does not merge. */
export type WrittenOffsets = {
  /** How many offsets all inserts of usage had together. */
  readonly count: number;
  readonly first: number;
  /** The end of the last batch; 0 when there is none. */
  readonly end: number;
  readonly single: number;
};

/**
 * How often the usage of a batch is in the table: 0, 1, or a number that stands for no batch.
 *
 * Batches of a partition follow one another without a gap, each is intended only when the one
 * before is finished, and its marker comes with its usage. So the batch is there when the written
 * offsets reach its end, and all batches are there exactly once when there are as many offsets as
 * lie between the first and the end. More of them: a batch is there twice (2). Fewer, or an end in
 * the middle of the batch: the stores contradict each other (0.5).
 */
export function timesWritten(
  { count, first, end, single }: WrittenOffsets,
  range: Pick<BatchRange, 'start' | 'end'>,
): number {
  if (single > 0) return single;
  if (end <= range.start) return 0;
  if (end < range.end) return 0.5;
  const expected = end - first;
  if (count === expected) return 1;
  return count > expected ? 2 : 0.5;
}
