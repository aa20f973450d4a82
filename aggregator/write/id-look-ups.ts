import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import type { InstantMs } from '../../contract/instant.js';
import { integerColumn } from '../../sql/columns.js';
import type { StoredId } from '../fold/separate-duplicates.js';
import { IN_MONTHS, monthAppendedFromMs } from './appended-from.js';

/** Keeps the text of a look-up below the server's limit of 256 KiB for a query. */
const LOOK_UP_IDS_MAX = 6_000;

/** The ids that a partition asks for, at offsets below `below` or on an earlier log. */
export type IdQuestion = {
  readonly partition: number;
  readonly idHashes: readonly string[];
  readonly below: number;
  /** When the log appended the batch. */
  readonly appendedAtMs: InstantMs;
};

/** By their hashes. */
export type FoundIds = ReadonlyMap<string, StoredId>;

type Waiting = {
  readonly question: IdQuestion;
  readonly resolve: (found: FoundIds) => void;
  readonly reject: (error: unknown) => void;
};

/** One id of one partition. */
type Wanted = { readonly partition: number; readonly idHash: string };

const idRow = z.object({
  partition: z.number(),
  is_present_log: z.number(),
  hash: z.string(),
  payload: z.string(),
  timestamp_ms: integerColumn,
  is_timestamp_given: z.boolean(),
});

/** The bound of each partition, in the order of the partitions. */
const BELOW = `log_offset < arrayElement({belows:Array(UInt64)},
    indexOf({partitions:Array(UInt32)}, log_partition))`;
const OF_PARTITIONS = `log_id = {log_id:String} AND (log_partition, id_hash)
  IN (SELECT log_partition, id_hash FROM wanted)`;
const IN_LAST_MONTHS = `${OF_PARTITIONS} AND ${IN_MONTHS}`;
/** An id counts once for ever, and not once per log (D-009). */
const ANYWHERE_ELSE = `(${OF_PARTITIONS} AND NOT (${IN_MONTHS}))
  OR (log_id != {log_id:String} AND id_hash IN (SELECT id_hash FROM wanted))`;

/**
 * The exact look-ups of the partitions of one process. What is asked in one turn of the event loop,
 * as by the partitions of a flush, is one question to the server.
 */
export class IdLookUps {
  #waiting: Waiting[] = [];

  constructor(
    private readonly clickhouse: Pick<ClickHouse, 'query'>,
    private readonly logId: string,
  ) {}

  /** Those of the ids that are stored. @throws DependencyError when the server fails. */
  find(question: IdQuestion): Promise<FoundIds> {
    if (question.idHashes.length === 0) return Promise.resolve(new Map());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (this.#waiting.length === 1) setImmediate(() => void this.#answerAll());
    });
  }

  async #answerAll(): Promise<void> {
    const asked = this.#waiting;
    this.#waiting = [];
    try {
      const found = await this.#findAll(asked.map(({ question }) => question));
      for (const { question, resolve } of asked) resolve(ofQuestion(question, found));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }

  /**
   * An id may stand in any month, for ever, but most that come again do so soon; and it stands
   * there once. So the last months are asked first, and all others only for what was not found.
   */
  async #findAll(questions: readonly IdQuestion[]): Promise<FoundIds> {
    const wanted = questions.flatMap(({ partition, idHashes }) =>
      idHashes.map((idHash): Wanted => ({ partition, idHash })),
    );
    const bounds = {
      log_id: this.logId,
      partitions: questions.map(({ partition }) => partition),
      belows: questions.map(({ below }) => below),
      appended_from: Math.min(
        ...questions.map(({ appendedAtMs }) => monthAppendedFromMs(appendedAtMs)),
      ),
    };
    const found = new Map<string, StoredId>();
    for (const where of [IN_LAST_MONTHS, ANYWHERE_ELSE]) {
      const missing = wanted.filter((id) => !found.has(keyOf(id)));
      for (let start = 0; start < missing.length; start += LOOK_UP_IDS_MAX) {
        const select = selectOf(missing.slice(start, start + LOOK_UP_IDS_MAX), where);
        for (const row of await this.clickhouse.query(select, bounds, idRow)) {
          const { hash: idHash, partition, is_present_log: isPresentLog } = row;
          found.set(isPresentLog === 1 ? keyOf({ partition, idHash }) : idHash, {
            payloadHash: row.payload,
            timestampMs: row.timestamp_ms,
            isTimestampGiven: row.is_timestamp_given,
          });
        }
      }
    }
    return found;
  }
}

/** Of the present log. An id of an earlier log stands for whichever partition asks for it. */
function keyOf({ partition, idHash }: Wanted): string {
  return `${partition}:${idHash}`;
}

function ofQuestion({ partition, idHashes }: IdQuestion, found: FoundIds): FoundIds {
  const own = new Map<string, StoredId>();
  for (const idHash of idHashes) {
    const stored = found.get(keyOf({ partition, idHash })) ?? found.get(idHash);
    if (stored !== undefined) own.set(idHash, stored);
  }
  return own;
}

/** The hashes are read before the rest of the row, since nearly all of them are others. */
function selectOf(wanted: readonly Wanted[], where: string): string {
  // We compute the hashes, and they are hexadecimal digits, so they are safe in the text.
  const partitions = wanted.map(({ partition }) => partition).join(',');
  const idHashes = wanted.map(({ idHash }) => idHash).join(',');
  return `WITH wanted AS (
      SELECT toUInt32(pair.1) AS log_partition, toFixedString(unhex(pair.2), 16) AS id_hash
      FROM (SELECT arrayJoin(arrayZip(splitByChar(',', '${partitions}'),
        splitByChar(',', '${idHashes}'))) AS pair))
    SELECT log_partition AS partition, log_id = {log_id:String} AS is_present_log,
      lower(hex(id_hash)) AS hash, lower(hex(payload_hash)) AS payload,
      toString(toUnixTimestamp64Milli(timestamp)) AS timestamp_ms, is_timestamp_given
    FROM event_ids_v1
    PREWHERE id_hash IN (SELECT id_hash FROM wanted)
    WHERE (${where}) AND (log_id != {log_id:String} OR ${BELOW})`;
}
