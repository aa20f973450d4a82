import { z } from 'zod';
import type { ClickHouseQueries } from '../../clickhouse/client.js';
import type { Environment } from '../../contract/environment.js';
import { eventKey } from '../../contract/event-key.js';
import type { InstantMs } from '../../contract/instant.js';
import { integerColumn } from '../../sql/columns.js';
import { mustGet } from '../../runtime/failure.js';
import { hashText } from '../../runtime/hash-text.js';
import { queryFile } from '../../clickhouse/query-file.js';

/** Where in a log an event stands. */
export type EventPosition = {
  readonly logId: string;
  readonly partition: number;
  readonly offset: number;
  /** Position inside the log record. */
  readonly index: number;
};

/** Where an id was counted, and when the log took it. */
export type CountedPosition = EventPosition & { readonly appendedAtMs: InstantMs };

const FIND_POSITIONS = queryFile('find-event-positions');

const positionRow = z.object({
  hash: z.string(),
  log_id: z.string(),
  log_partition: z.number().int(),
  log_offset: integerColumn,
  record_index: z.number().int(),
  appended_ms: integerColumn,
});

function idHashOf(environment: Environment, eventId: string): string {
  return hashText(eventKey(environment, eventId));
}

/**
 * Where these ids of one environment were counted, by id; ids that were not are left out. At most a
 * thousand ids. @throws DependencyError when ClickHouse fails.
 */
export async function findEventPositions(
  clickHouse: ClickHouseQueries,
  environment: Environment,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, CountedPosition>> {
  if (eventIds.length === 0) return new Map();
  const ids = new Map(eventIds.map((id) => [idHashOf(environment, id), id]));
  const idHashes = [...ids.keys()].join(',');
  const rows = await clickHouse.query(FIND_POSITIONS, { idHashes }, positionRow);
  return new Map(
    rows.map((row) => [
      mustGet(ids, row.hash, 'an id that was asked for'),
      {
        logId: row.log_id,
        partition: row.log_partition,
        offset: row.log_offset,
        index: row.record_index,
        appendedAtMs: row.appended_ms,
      },
    ]),
  );
}
