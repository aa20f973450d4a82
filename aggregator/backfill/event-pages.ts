import { z } from 'zod';
import type { ClickHouse, QueryParameters } from '../../clickhouse/client.js';
import { assertPresent } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import type { BackfillAttempt, BackfillRange } from './backfill-jobs.js';

/** Where pages are read from, and how many events each has. */
export type PageSource = { readonly clickhouse: ClickHouse; readonly pageEvents: number };

const placeRow = z.object({
  customer_key: z.string(),
  at_ms: z.string(),
  log_partition: z.number(),
  log_offset: z.string(),
  record_index: z.number(),
});
/** Position of an event in the order of `events_v1`; unique within a log. */
type Place = z.output<typeof placeRow>;
const countRow = z.object({ found: integerColumn });

/** A range of the table's order: a condition on `events_v1`, and the number of its events. */
export type EventPage = {
  readonly condition: string;
  readonly parameters: QueryParameters;
  readonly events: number;
};

const OF_LOG = `tenant_id = {tenant_id:String} AND environment_id = {environment_id:String}
  AND event_name = {event_name:String} AND log_id = {log_id:String}
  AND log_offset < transform(log_partition, {partitions:Array(UInt32)}, {ends:Array(UInt64)},
    toUInt64(0))
  AND appended_at >= fromUnixTimestamp64Milli({appended_from:Int64}, 'UTC')`;

/**
 * A condition on the table's order relative to an event. It compares column by column, because
 * ClickHouse 26.7 does not use the primary key for a comparison of tuples (measured).
 */
function relativeTo(name: 'after' | 'until'): string {
  const [than, last] = name === 'after' ? ['>', '>'] : ['<', '<='];
  const at = `fromUnixTimestamp64Milli({${name}_at_ms:Int64}, 'UTC')`;
  return `customer_key ${than}= {${name}_customer_key:String}
    AND (customer_key ${than} {${name}_customer_key:String}
      OR timestamp ${than} ${at} OR (timestamp = ${at}
      AND (log_partition ${than} {${name}_log_partition:UInt32}
        OR (log_partition = {${name}_log_partition:UInt32}
        AND (log_offset ${than} {${name}_log_offset:UInt64}
          OR (log_offset = {${name}_log_offset:UInt64}
          AND record_index ${last} {${name}_record_index:UInt32}))))))`;
}

function placeParameters(name: 'after' | 'until', place: Place): QueryParameters {
  return Object.fromEntries(
    Object.entries(place).map(([column, value]) => [`${name}_${column}`, value]),
  );
}

function logParameters(
  { environment, eventName, countsFromMs }: BackfillAttempt,
  log: string,
  ranges: readonly BackfillRange[],
): QueryParameters {
  return {
    tenant_id: environment.tenantId,
    environment_id: environment.environmentId,
    event_name: eventName,
    log_id: log,
    appended_from: countsFromMs ?? 0,
    partitions: ranges.map(({ partition }) => partition),
    ends: ranges.map(({ liveFrom }) => liveFrom),
  };
}

/** The last event of the next page; null when fewer events are left than a page has. */
async function findPageEnd(
  { clickhouse, pageEvents }: PageSource,
  condition: string,
  parameters: QueryParameters,
): Promise<Place | null> {
  const [place] = await clickhouse.query(
    `SELECT customer_key, toString(toUnixTimestamp64Milli(timestamp)) AS at_ms, log_partition,
       log_offset, record_index
     FROM events_v1 WHERE ${condition}
     ORDER BY customer_key, timestamp, log_partition, log_offset, record_index
     LIMIT 1 OFFSET ${pageEvents - 1}`,
    parameters,
    placeRow,
  );
  return place ?? null;
}

async function* pagesOfLog(source: PageSource, ofLog: QueryParameters): AsyncGenerator<EventPage> {
  let condition = OF_LOG;
  let parameters = ofLog;
  for (;;) {
    const end = await findPageEnd(source, condition, parameters);
    if (end === null) break;
    yield {
      condition: `${condition} AND ${relativeTo('until')}`,
      parameters: { ...parameters, ...placeParameters('until', end) },
      events: source.pageEvents,
    };
    condition = `${OF_LOG} AND ${relativeTo('after')}`;
    parameters = { ...ofLog, ...placeParameters('after', end) };
  }
  const select = `SELECT count() AS found FROM events_v1 WHERE ${condition}`;
  const [rest] = await source.clickhouse.query(select, parameters, countRow);
  const events = assertPresent(rest, 'the row of a SELECT of one aggregate').found;
  if (events > 0) yield { condition, parameters, events };
}

/**
 * The stored events that a backfill counts, below its start offsets, page by page along the primary
 * key. Each event is on exactly one page, since the events below the offsets no longer change.
 * @throws DependencyError when ClickHouse fails.
 */
export async function* pagesOf(
  source: PageSource,
  attempt: BackfillAttempt,
): AsyncGenerator<EventPage> {
  for (const log of new Set(attempt.startOffsets.map((range) => range.log))) {
    const ranges = attempt.startOffsets.filter((range) => range.log === log);
    yield* pagesOfLog(source, logParameters(attempt, log, ranges));
  }
}
