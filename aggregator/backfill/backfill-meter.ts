import type { ClickHouse } from '../../clickhouse/client.js';
import { AGGREGATIONS } from '../../contract/aggregation.js';
import { compileValueRule } from '../../contract/event-value.js';
import { hashText } from '../../runtime/hash-text.js';
import { addUpPage, type OnePage } from './add-up-page.js';
import type { BackfillAttempt, BackfillResult, BackfillWatch } from './backfill-jobs.js';
import { countPage } from './count-page.js';
import { pagesOf } from './event-pages.js';

/** Events read at a time: about a second of work, so that no request reaches its time-out. */
const PAGE_EVENTS = 250_000;

/** Applies the meter to the events of one page; returns how many matched. */
function backfillPage(
  clickhouse: ClickHouse,
  attempt: BackfillAttempt,
  of: OnePage,
): Promise<number> {
  return AGGREGATIONS[of.rule.type].counts === 'event'
    ? countPage(clickhouse, attempt, of.page)
    : addUpPage(clickhouse, attempt, of);
}

/**
 * Applies a meter to the stored events below its start offsets, under the attempt's own generation,
 * with bounded memory and bounded requests. Nobody reads these rows until the attempt is completed,
 * and the rows of a failed attempt are never read, so an insert of unknown outcome does no harm.
 * @throws DependencyError when ClickHouse fails or an outcome is unknown; the reason of the signal
 * when it aborts; TypeError for a meter whose rule does not compile.
 */
export async function backfillMeter(
  clickhouse: ClickHouse,
  attempt: BackfillAttempt,
  { progress, signal, pageEvents = PAGE_EVENTS }: BackfillWatch & { readonly pageEvents?: number },
): Promise<BackfillResult> {
  const rule = compileValueRule(attempt.aggregation, hashText);
  let result: BackfillResult = { eventsScanned: 0, eventsMatched: 0 };
  for await (const page of pagesOf({ clickhouse, pageEvents }, attempt)) {
    signal.throwIfAborted();
    const matched = await backfillPage(clickhouse, attempt, { rule, page, signal });
    result = {
      eventsScanned: result.eventsScanned + page.events,
      eventsMatched: result.eventsMatched + matched,
    };
    progress(attempt, result);
  }
  return result;
}
