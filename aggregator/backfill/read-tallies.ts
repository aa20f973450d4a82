import { z } from 'zod';
import type { ClickHouse, QueryParameters } from '../../clickhouse/client.js';
import { AGGREGATIONS } from '../../contract/aggregation.js';
import type { ValueRule } from '../../contract/event-value.js';
import { MINUTE_MS, type InstantMs } from '../../contract/instant.js';
import type { EventTally } from '../../contract/minute-values.js';
import { integerColumn } from '../../sql/columns.js';
import type { BackfillAttempt } from './backfill-jobs.js';
import type { EventPage } from './event-pages.js';
import { GROUPING_SETTING, matchingEvents } from './matching-events.js';

/** Events of one customer, minute, source and group that have the same value texts. */
export type PlacedTally = {
  readonly customerKey: string;
  readonly minuteMs: InstantMs;
  readonly source: string;
  readonly groupKey: string;
  readonly tally: EventTally;
};

const tallyRow = z
  .tuple([
    z.string(),
    integerColumn,
    z.string(),
    z.string(),
    z.array(z.string().nullable()),
    integerColumn,
    z.string(),
    integerColumn,
    integerColumn,
    z.string(),
  ])
  .transform(
    ([customerKey, minute, source, groupKey, texts, count, time, atMs, receivedMs, eventId]) => ({
      customerKey,
      minuteMs: minute * MINUTE_MS,
      source,
      groupKey,
      tally: {
        texts,
        count,
        timeSumMs: BigInt(time),
        place: { atMs, receivedMs, eventId },
      },
    }),
  );

/** The texts from which the value is computed, in the order of the rule. */
function textsExpression({ properties }: ValueRule): string {
  const texts = properties.map(
    (_, index) =>
      `if(mapContains(properties, {text_${index}:String}), ` +
      `toNullable(properties[{text_${index}:String}]), NULL)`,
  );
  return `CAST([${texts.join(', ')}], 'Array(Nullable(String))')`;
}

const LATEST_PLACE = `max((toUnixTimestamp64Milli(timestamp), toUnixTimestamp64Milli(received_at),
  event_id))`;
/** For meters that do not need the latest event: its id takes more memory than all the rest. */
const NO_PLACE = "(toInt64(0), toInt64(0), '')";

/**
 * The events of a page that count on the meter, grouped by the texts that their value depends on.
 * `contract/` computes the value of each combination, so SQL has no second definition of a value.
 * @throws DependencyError when ClickHouse fails.
 */
export function readTallies(
  clickhouse: ClickHouse,
  attempt: BackfillAttempt,
  of: { readonly rule: ValueRule; readonly page: EventPage },
): AsyncGenerator<readonly PlacedTally[]> {
  const { rule, page } = of;
  const { values } = AGGREGATIONS[rule.type];
  const events = matchingEvents(attempt, page);
  const texts = rule.properties.map((property, index) => [`text_${index}`, property] as const);
  const parameters: QueryParameters = {
    ...events.parameters,
    ...Object.fromEntries(texts),
  };
  const select = `SELECT customer_key, minute, toString(grouped.source), group_text,
      texts, events, time_sum_ms, place.1, place.2, place.3
    FROM (
      SELECT customer_key, ${events.minute} AS minute, source, ${events.groupText} AS group_text,
        ${textsExpression(rule)} AS texts, count() AS events,
        sum(toUnixTimestamp64Milli(timestamp) % ${MINUTE_MS}) AS time_sum_ms,
        ${values.includes('latest') ? LATEST_PLACE : NO_PLACE} AS place
      ${events.from}
      GROUP BY customer_key, minute, source, group_text, texts
    ) AS grouped
    SETTINGS ${GROUPING_SETTING}`;
  return clickhouse.streamRows(select, parameters, tallyRow);
}
