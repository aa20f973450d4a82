import { z } from 'zod';
import type { ClickHouseQueries, QueryParameters } from '../../../clickhouse/client.js';
import type { Environment } from '../../../contract/environment.js';
import type { InstantMs, Interval } from '../../../contract/instant.js';
import { EVENT_RECORD_VERSION } from '../../../contract/usage-event.js';
import { integerColumn } from '../../../sql/columns.js';
import { queryFile } from '../../../clickhouse/query-file.js';

/** Where a record stands in its log; together with the log it is the id of a dead letter. */
export type LetterPlace = {
  readonly logId: string;
  readonly partition: number;
  readonly offset: number;
};

export type DeadLetter = LetterPlace & {
  readonly reason: string;
  readonly appendedAtMs: InstantMs;
  /** The first characters of the payload. */
  readonly excerpt: string;
  readonly payloadBytes: number;
};

export type DeadLetterQuery = {
  /** Only dead letters whose payload names this environment; null for all. */
  readonly environment: Environment | null;
  /** Of the time at which the log appended them. */
  readonly window: Interval;
  readonly limit: number;
  readonly offset: number;
};

const EXCERPT_CHARACTERS = 4_096;
const FILTER_LETTERS = queryFile('filter-dead-letters');
const PLACE = 'd.log_id, d.log_partition, d.log_offset';
const COLUMNS = `SELECT toString(d.log_id) AS log_id, d.log_partition AS log_partition, d.log_offset AS log_offset,
  toString(d.reason) AS reason, substringUTF8(d.payload, 1, ${EXCERPT_CHARACTERS}) AS excerpt,
  toString(length(d.payload)) AS payload_bytes, toString(toUnixTimestamp64Milli(d.appended_at)) AS appended_ms`;
const LIST_LETTERS = `${COLUMNS} ${FILTER_LETTERS}
  ORDER BY d.appended_at DESC, ${PLACE}
  LIMIT 1 BY ${PLACE}
  LIMIT {limit:UInt64} OFFSET {offset:UInt64}`;
const COUNT_LETTERS = `SELECT uniqExact(${PLACE}) AS total ${FILTER_LETTERS}`;
const READ_PAYLOAD = `SELECT d.payload AS payload ${FILTER_LETTERS} LIMIT 1`;

/** Everything that a log can have appended. */
const ALL_TIME: Interval = { startMs: 0, endMs: Date.UTC(2200, 0, 1) };

const letterRow = z
  .object({
    log_id: z.string(),
    log_partition: z.number().int(),
    log_offset: integerColumn,
    reason: z.string(),
    excerpt: z.string(),
    payload_bytes: integerColumn,
    appended_ms: integerColumn,
  })
  .transform((row): DeadLetter => ({
    logId: row.log_id,
    partition: row.log_partition,
    offset: row.log_offset,
    reason: row.reason,
    appendedAtMs: row.appended_ms,
    excerpt: row.excerpt,
    payloadBytes: row.payload_bytes,
  }));

const ID = /^([A-Za-z0-9_-]{1,64}):(\d{1,9}):(\d{1,15})$/;

/** `<log>:<partition>:<offset>`. */
export function letterIdOf({ logId, partition, offset }: LetterPlace): string {
  return `${logId}:${partition}:${offset}`;
}

/** The place that an id names; null for a text that is no id. */
export function letterPlaceOf(id: string): LetterPlace | null {
  const [, logId, partition, offset] = ID.exec(id) ?? [];
  if (logId === undefined) return null;
  return { logId, partition: Number(partition), offset: Number(offset) };
}

/** How the payload of a record of an environment begins, as ingest writes it. */
function prefixOf({ tenantId: t, environmentId: e }: Environment): string {
  return `${JSON.stringify({ v: EVENT_RECORD_VERSION, t, e }).slice(0, -1)},`;
}

function parametersOf(
  environment: Environment | null,
  window: Interval,
  places: readonly LetterPlace[],
): QueryParameters {
  return {
    isAnyTenant: environment === null,
    tenantId: environment?.tenantId ?? '',
    environmentId: environment?.environmentId ?? '',
    prefix: environment === null ? '' : prefixOf(environment),
    fromMs: window.startMs,
    toMs: window.endMs,
    logIds: places.map(({ logId }) => logId),
    partitions: places.map(({ partition }) => partition),
    offsets: places.map(({ offset }) => offset),
  };
}

/** Log records that could not be decoded. Every method throws a DependencyError. */
export function createDeadLetters(clickHouse: ClickHouseQueries) {
  return {
    /** One page, newest first, and how many there are in all. */
    list: async ({
      environment,
      window,
      limit,
      offset,
    }: DeadLetterQuery): Promise<{
      readonly letters: readonly DeadLetter[];
      readonly total: number;
    }> => {
      const parameters = parametersOf(environment, window, []);
      const page = { ...parameters, limit, offset };
      const letters = await clickHouse.query(LIST_LETTERS, page, letterRow);
      if (offset === 0 && letters.length < limit) return { letters, total: letters.length };
      const row = z.object({ total: integerColumn });
      const [counted] = await clickHouse.query(COUNT_LETTERS, parameters, row);
      return { letters, total: counted?.total ?? 0 };
    },
    /** The letters at these places, in no order; those of other environments are left out. */
    find: async (
      environment: Environment | null,
      places: readonly LetterPlace[],
    ): Promise<readonly DeadLetter[]> => {
      if (places.length === 0) return [];
      const parameters = parametersOf(environment, ALL_TIME, places);
      const page = { ...parameters, limit: places.length, offset: 0 };
      return clickHouse.query(LIST_LETTERS, page, letterRow);
    },
    /** The whole payload of a letter; null when there is no such letter. */
    payload: async (
      environment: Environment | null,
      place: LetterPlace,
    ): Promise<string | null> => {
      const parameters = parametersOf(environment, ALL_TIME, [place]);
      const row = z.object({ payload: z.string() });
      const [found] = await clickHouse.query(READ_PAYLOAD, parameters, row);
      return found?.payload ?? null;
    },
  };
}

export type DeadLetters = ReturnType<typeof createDeadLetters>;
