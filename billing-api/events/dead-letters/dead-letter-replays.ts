import { sql } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../../contract/environment.js';
import { formatInstant, type InstantMs } from '../../../contract/instant.js';
import { instantColumn, integerColumn, noRows } from '../../../sql/columns.js';
import { letterIdOf, type LetterPlace } from './dead-letters-store.js';
import { rowIsOfEnvironment } from '../../records/conditions.js';
import type { Transaction } from '../../records/unit.js';

/** One time that a dead letter was appended to the log again. */
export type Replay = {
  readonly events: number;
  readonly replayedAtMs: InstantMs;
  /** A user id, or `operator`. */
  readonly replayedBy: string;
};

const replayRow = z.object({
  log: z.string(),
  partition: z.number().int(),
  log_offset: integerColumn,
  events: z.number().int(),
  replayed_at: instantColumn,
  replayed_by: z.string(),
});

/** Replays of these letters by letter id, oldest first; an operator sees those of all tenants. */
export async function findReplays(
  transaction: Pick<Transaction, 'any'>,
  places: readonly LetterPlace[],
  { isOperator }: { readonly isOperator: boolean },
): Promise<ReadonlyMap<string, readonly Replay[]>> {
  const wanted = places.map(({ logId, partition, offset }) => [logId, partition, offset]);
  const rows = await transaction.any(sql.type(replayRow)`
    SELECT r.log, r.partition, r.log_offset, r.events, r.replayed_at, r.replayed_by
    FROM dead_letter_replays r
    JOIN ${sql.unnest(wanted, ['text', 'int4', 'int8'])} AS wanted (log, partition, log_offset)
      ON r.log = wanted.log AND r.partition = wanted.partition AND r.log_offset = wanted.log_offset
    WHERE ${isOperator} OR (${rowIsOfEnvironment('r')})
    ORDER BY r.id`);
  const replays = new Map<string, Replay[]>();
  for (const row of rows) {
    const { log: logId, partition, log_offset: offset, events } = row;
    const id = letterIdOf({ logId, partition, offset });
    const replay = { events, replayedAtMs: row.replayed_at, replayedBy: row.replayed_by };
    replays.set(id, [...(replays.get(id) ?? []), replay]);
  }
  return replays;
}

/** Notes that a letter was replayed. */
export async function insertReplay(
  transaction: Pick<Transaction, 'query'>,
  place: LetterPlace,
  replay: Replay & { readonly environment: Environment },
): Promise<void> {
  const { tenantId, environmentId } = replay.environment;
  await transaction.query(sql.type(noRows)`
    INSERT INTO dead_letter_replays
      (tenant_id, environment_id, log, partition, log_offset, events, replayed_at, replayed_by)
    VALUES (${tenantId}, ${environmentId}, ${place.logId}, ${place.partition}, ${place.offset},
      ${replay.events}, ${formatInstant(replay.replayedAtMs)}, ${replay.replayedBy})`);
}
