import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { IS_TIED } from '../../clickhouse/server-facts.js';
import { MINUTE_MS } from '../../contract/instant.js';
import { assertPresent } from '../../runtime/failure.js';
import { integerColumn } from '../../sql/columns.js';
import type { BackfillAttempt } from './backfill-jobs.js';
import type { EventPage } from './event-pages.js';
import { backfillQueryId, GROUPING_SETTING, matchingEvents } from './matching-events.js';

/** Rows of one part: a row of this table is wide in memory, whatever of it is filled. */
const PART_ROWS = 65_536;

const matchedRow = z.object({ matched: integerColumn });

/**
 * Counts the events of one page on a meter of type COUNT. ClickHouse does it alone: such a meter
 * needs no value of an event, so the events and minutes need not pass through this process.
 * @returns how many events matched.
 * @throws DependencyError when ClickHouse fails, or when it is unknown whether the rows were
 * written. That does no harm: nobody reads them before the attempt is completed.
 */
export async function countPage(
  clickhouse: ClickHouse,
  attempt: BackfillAttempt,
  page: EventPage,
): Promise<number> {
  const { meterId, generation } = attempt;
  const { from, minute, groupText, parameters } = matchingEvents(attempt, page);
  const select = `SELECT count() AS matched ${from}`;
  const [row] = await clickhouse.query(select, parameters, matchedRow);
  const { matched } = assertPresent(row, 'the row of a SELECT of one aggregate');
  if (matched === 0) return 0;
  await clickhouse.command(
    `INSERT INTO usage_minute_v1 (tenant_id, environment_id, customer_key, meter_id, generation,
       minute, source, group_key, event_count)
     SETTINGS min_insert_block_size_rows = ${PART_ROWS}, max_threads = 1, max_insert_threads = 1,
       ${GROUPING_SETTING}
     SELECT {tenant_id:String}, {environment_id:String}, customer_key, {meter_id:String},
       {generation:UInt64}, toDateTime64(${MINUTE_MS / 1000} * minute_number, 0, 'UTC'), source,
       group_text, events
     FROM (
       SELECT customer_key, ${minute} AS minute_number, source, ${groupText} AS group_text,
         count() AS events
       ${from}
       GROUP BY customer_key, minute_number, source, group_text
     )
     WHERE ${IS_TIED}`,
    { ...parameters, meter_id: meterId, generation },
    backfillQueryId(attempt),
  );
  return matched;
}
