import type { ClickHouse } from '../../clickhouse/client.js';
import { queriesFor } from '../../clickhouse/request-queries.js';
import type { CorrectionRow } from '../declarations/corrections/correction.resource.js';
import { findEventPositions } from '../events/event-positions.js';
import { addedEventsOf } from './correction-operations.js';
import { readAt, type CorrectionTarget, type CountedEvent } from './correction-store.js';

/**
 * The events with the ids of a backfill that was applied, as they count.
 * @throws Error while some are not counted yet; then it is tried again.
 */
export async function readBackfilled(
  clickHouse: ClickHouse,
  target: CorrectionTarget,
  correction: CorrectionRow,
): Promise<readonly CountedEvent[]> {
  const { environment } = target;
  const ids = addedEventsOf(correction).map(({ eventId }) => eventId);
  const queries = queriesFor(clickHouse, environment);
  const positions = await findEventPositions(queries, environment, ids);
  const events = await readAt(clickHouse, target, [...positions.values()]);
  if (events.length < ids.length) {
    const missing = ids.length - events.length;
    throw new Error(`${missing} events of ${correction.id} are not counted yet`);
  }
  return events;
}
