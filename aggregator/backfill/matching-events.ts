import { randomUUID } from 'node:crypto';
import type { QueryParameters } from '../../clickhouse/client.js';
import { MINUTE_MS } from '../../contract/instant.js';
import type { MeterFilter } from '../../contract/meter.js';
import type { BackfillAttempt } from './backfill-jobs.js';
import type { EventPage } from './event-pages.js';

/** Groups take so much memory, in bytes, before ClickHouse moves them to its disk. */
export const GROUPING_SETTING = 'max_bytes_before_external_group_by = 268435456';

/** Pieces of SQL that choose the events of a page that the meter counts, and group them. */
export type MatchingEvents = {
  /** `FROM … WHERE …`. */
  readonly from: string;
  /** The minute of an event as a number: toStartOfMinute is a DateTime, which ends in 2106. */
  readonly minute: string;
  /** Text of the property that the meter groups by; empty without one and when it is missing. */
  readonly groupText: string;
  readonly parameters: QueryParameters;
};

/**
 * `meterMatches` (contract/meter.ts) in SQL: each filter's property exists and its text is listed.
 */
function filterCondition(filters: readonly MeterFilter[]): {
  readonly text: string;
  readonly parameters: QueryParameters;
} {
  const parameters: Record<string, string | readonly string[]> = {};
  const conditions = filters.map(({ key, values }, index) => {
    parameters[`key_${index}`] = key;
    parameters[`values_${index}`] = values;
    return (
      `mapContains(properties, {key_${index}:String}) AND ` +
      `has({values_${index}:Array(String)}, properties[{key_${index}:String}])`
    );
  });
  return { text: ['1', ...conditions].join(' AND '), parameters };
}

/** The events of the page that the attempt's meter counts, as parts of a statement. */
export function matchingEvents(attempt: BackfillAttempt, page: EventPage): MatchingEvents {
  const { groupBy } = attempt.aggregation;
  const filter = filterCondition(attempt.filters);
  return {
    from: `FROM events_v1 WHERE ${page.condition} AND ${filter.text}`,
    minute: `intDiv(toUnixTimestamp64Milli(timestamp), ${MINUTE_MS})`,
    groupText: groupBy === null ? "''" : 'properties[{group_by:String}]',
    parameters: { ...page.parameters, ...filter.parameters, group_by: groupBy ?? '' },
  };
}

/** The name under which an insert of the attempt runs in ClickHouse. */
export function backfillQueryId({ meterId, generation }: BackfillAttempt): string {
  return `mb:backfill:${meterId}:${generation}:${randomUUID()}`;
}
