import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  ClickHouseLogLevel,
  createClient,
  type ClickHouseClient,
  type ClickHouseSettings,
  type ResultSet,
} from '@clickhouse/client';
import { z } from 'zod';
import { BLOCK_ROWS_MAX } from '../contract/table-column.js';
import { AssertionFailed, assertPresent, assertThat } from '../runtime/failure.js';
import { clickHouseOutage, serverCodeOf } from './clickhouse-failure.js';
import { SELECT_FACTS, serverFacts, tiedFilter, type ServerFacts } from './server-facts.js';
import { insertSettings, onlyKnown, SETTINGS, WHOLE_ANSWERS } from './settings.js';

const REQUEST_TIMEOUT_MS = 60_000;
/** Below the server's keep-alive (10 s by default), so that no request meets a closed socket. */
const IDLE_SOCKET_MS = 2_500;
const CONNECTIONS_MAX = 16;
/** FUNCTION_THROW_IF_VALUE_IS_NON_ZERO: the gate refused the insert. */
const THROW_IF = '395';
/** INSERT_WAS_DEDUPLICATED: `refuseRepeat` refused the insert. */
const REPEATED = '389';

/**
 * Values of the `{name:Type}` placeholders; the server reads each as its declared type. One value's
 * text may have up to 128 KiB (the server's http_max_field_value_size), so long lists go in chunks.
 */
export type QueryParameters = Readonly<
  Record<
    string,
    string | number | bigint | boolean | Date | null | readonly (string | number | bigint)[]
  >
>;

export type TextInsert = {
  /** `INSERT … FORMAT JSONCompactEachRow` or another format of one line a row. */
  readonly query: string;
  readonly parameters?: QueryParameters;
  /** The rows in that format, a line each; any size. Each part must end with a line end. */
  readonly body: string | readonly Buffer[];
  readonly queryId: string;
};

type QueryResult = ResultSet<'JSONCompactEachRow'>;

export type RowsQuery = {
  readonly select: string;
  readonly parameters: QueryParameters;
  readonly settings: ClickHouseSettings;
};

/**
 * `fenced`: throwIf in the statement refused, nothing was written. `repeated`: this request wrote
 * nothing, since the same insert was applied before (`refuseRepeat`).
 */
export type InsertOutcome = { readonly outcome: 'inserted' | 'fenced' | 'repeated' };

/**
 * A condition on an insert: it is refused when this scalar SELECT finds any of its rows. A proxy
 * that repeats a request whose answer it has lost then changes nothing.
 */
export function refuseRepeat(select: string): string {
  return `throwIf((${select}) > 0, 'these rows are there already', toInt16(${REPEATED})) = 0`;
}

const LINE_END = 10;

/** Line ends inside of values are escaped. */
function linesOf(bytes: Buffer): number {
  let lines = 0;
  let next = bytes.indexOf(LINE_END);
  for (; next >= 0; next = bytes.indexOf(LINE_END, next + 1)) lines += 1;
  return bytes.length === 0 || bytes.at(-1) === LINE_END ? lines : lines + 1;
}

function checked<Row extends z.ZodTypeAny>(rows: readonly unknown[], row: Row): z.output<Row>[] {
  const parsed = z.array(row).safeParse(rows);
  if (parsed.success) return parsed.data;
  throw new AssertionFailed(`rows of another shape: ${parsed.error.message}`);
}

/** What all requests of a client have in common beside the settings of every request. */
type SharedOptions = {
  readonly settings?: ClickHouseSettings;
  readonly signal?: AbortSignal;
  readonly blockRowsMax?: number;
};

/** What a store of the API may do: read. */
export type ClickHouseQueries = Pick<ClickHouse, 'query' | 'visitRows'>;

/** So long rows are visited without a pause; then what else waits on the thread has its turn. */
const SLICE_MS = 20;

/** A ClickHouse server and one database of it. */
export class ClickHouse {
  /** Empty when any server will do. */
  #tiedTo = '';
  #known: Promise<ReadonlySet<string>> | null = null;

  constructor(
    readonly url: string,
    private readonly client: ClickHouseClient,
    private readonly shared: SharedOptions = {},
  ) {}

  /** More rows than these cannot be inserted as one block. */
  get blockRowsMax(): number {
    return this.shared.blockRowsMax ?? BLOCK_ROWS_MAX;
  }

  /** The same client, whose `query` and `visitRows` have these settings and end with the signal. */
  withOptions(shared: SharedOptions): ClickHouseQueries {
    return new ClickHouse(this.url, this.client, shared);
  }

  /**
   * From now on another server, or another version of it, refuses what this client asks: what reads
   * by itself, an insert when it has the condition `IS_TIED`. @param tiedTo see `tieOf`.
   */
  tieTo(tiedTo: string): void {
    this.#tiedTo = tiedTo;
  }

  /** Which server answers now, whatever the client is tied to. @throws DependencyError. */
  async readServer(): Promise<ServerFacts> {
    const rows = await this.#attempt(async () => {
      const result = await this.client.query({ query: SELECT_FACTS, format: 'JSONEachRow' });
      return result.json<unknown>();
    });
    const facts = assertPresent(checked(rows, serverFacts)[0], 'the row of a SELECT without FROM');
    this.#known = Promise.resolve(new Set(facts.known_settings));
    return facts;
  }

  /**
   * Rows of a SELECT (without a FORMAT clause), each checked against `row`.
   * @throws DependencyError when ClickHouse fails; AssertionFailed for rows of another shape.
   */
  async query<Row extends z.ZodTypeAny>(
    select: string,
    parameters: QueryParameters,
    row: Row,
  ): Promise<z.output<Row>[]> {
    const rows = await this.#attempt(async () => {
      const result = await this.client.query({
        ...this.#sharedWith({}),
        query: select,
        query_params: { ...parameters },
        format: 'JSONEachRow',
      });
      return result.json<unknown>();
    });
    return checked(rows, row);
  }

  /**
   * Rows of a SELECT (without a FORMAT clause) as lists of values, one after the other, so that any
   * number of them fits in memory; with pauses, however long visits take. When this throws, what
   * was visited must not be used, and the server ends the statement.
   * @throws DependencyError when ClickHouse fails on the way; whatever `visit` throws.
   */
  async visitRows(query: RowsQuery, visit: (row: readonly unknown[]) => void): Promise<void> {
    const result = await this.#attempt(() =>
      this.client.query({
        ...this.#sharedWith(query.settings),
        query: query.select,
        query_params: { ...query.parameters },
        format: 'JSONCompactEachRow',
      }),
    );
    try {
      await this.#visitAll(result, visit);
    } catch (error) {
      result.close();
      throw error;
    }
  }

  async #visitAll(result: QueryResult, visit: (row: readonly unknown[]) => void): Promise<void> {
    const stream = result.stream<readonly unknown[]>()[Symbol.asyncIterator]();
    let sliceMs = performance.now();
    for (;;) {
      const chunk = await this.#attempt(() => stream.next());
      if (chunk.done === true) return;
      for (const row of chunk.value) {
        visit(row.json());
        if (performance.now() - sliceMs < SLICE_MS) continue;
        await nextTurn();
        this.shared.signal?.throwIfAborted();
        sliceMs = performance.now();
      }
    }
  }

  /**
   * The bytes of a SELECT (without a FORMAT clause), in chunks cut anywhere. A failure on the way
   * may end them early without an error: the caller must know how many bytes or lines to expect.
   * @throws DependencyError when ClickHouse fails.
   */
  async *streamBytes(
    select: string,
    parameters: QueryParameters,
    format: 'RowBinary' | 'TabSeparated' = 'RowBinary',
  ): AsyncGenerator<Buffer> {
    try {
      const { stream } = await this.client.exec({
        query: `${select} FORMAT ${format}`,
        query_params: { ...parameters },
        clickhouse_settings: this.#settings({}),
      });
      for await (const chunk of stream) yield chunk as Buffer;
    } catch (error) {
      throw clickHouseOutage(error);
    }
  }

  /**
   * Rows of a SELECT (without a FORMAT clause) in chunks, each row an array of its columns and
   * checked against `row`: any number of them fits in memory. The server waits while a chunk is
   * worked on. @throws DependencyError when ClickHouse fails on the way; AssertionFailed for rows
   * of another shape.
   */
  async *streamRows<Row extends z.ZodTypeAny>(
    select: string,
    parameters: QueryParameters,
    row: Row,
  ): AsyncGenerator<readonly z.output<Row>[]> {
    try {
      const result = await this.client.query({
        query: select,
        query_params: { ...parameters },
        clickhouse_settings: this.#settings({}),
        format: 'JSONCompactEachRow',
      });
      for await (const lines of result.stream()) {
        yield checked(
          lines.map((line) => line.json<unknown>()),
          row,
        );
      }
    } catch (error) {
      throw error instanceof AssertionFailed ? error : clickHouseOutage(error);
    }
  }

  /** A statement without result: DDL, KILL, a small insert. @throws DependencyError. */
  async command(
    statement: string,
    parameters: QueryParameters = {},
    queryId?: string,
  ): Promise<void> {
    await this.#attempt(() =>
      this.client.command({
        query: statement,
        query_params: { ...parameters, tied_to: this.#tiedTo },
        clickhouse_settings: this.#settings({ wait_end_of_query: 1 }),
        ...(queryId === undefined ? {} : { query_id: queryId }),
      }),
    );
  }

  /**
   * Inserts rows that are already encoded, as one block. `inserted` is certain: the server wrote
   * them (and synced them where the table asks for it). `fenced` and `repeated` are certain too:
   * this request wrote nothing.
   * @throws DependencyError when the outcome is unknown or the server refused for another reason;
   * AssertionFailed, before anything is sent, for more rows than one block holds.
   */
  async insertText(insert: TextInsert): Promise<InsertOutcome> {
    const parts = typeof insert.body === 'string' ? [Buffer.from(insert.body)] : insert.body;
    const rows = parts.reduce((sum, part) => sum + linesOf(part), 0);
    assertThat(
      rows <= this.blockRowsMax,
      `${rows} rows fit into one block of ${this.blockRowsMax}`,
    );
    const known = await this.#knownSettings();
    try {
      const result = await this.client.exec({
        query: insert.query,
        query_params: { ...insert.parameters, tied_to: this.#tiedTo },
        query_id: insert.queryId,
        values: Readable.from(parts, { objectMode: false }),
        clickhouse_settings: onlyKnown(insertSettings(this.blockRowsMax), known),
      });
      await drainEmpty(result.stream);
      return { outcome: 'inserted' };
    } catch (error) {
      const code = serverCodeOf(error);
      if (code === THROW_IF) return { outcome: 'fenced' };
      if (code === REPEATED) return { outcome: 'repeated' };
      throw clickHouseOutage(error);
    }
  }

  /**
   * Inserts any number of rows, as many at a time as the server likes: after a failure some of them
   * may be there. @param query `INSERT … FORMAT …`. @throws DependencyError.
   */
  async insertStream(query: string, rows: Readable): Promise<void> {
    await this.#attempt(async () => {
      const settings = { wait_end_of_query: 1, max_partitions_per_insert_block: '0' } as const;
      const { stream } = await this.client.exec({
        query,
        values: rows,
        clickhouse_settings: settings,
      });
      await drainEmpty(stream);
    });
  }

  /** Resolves when the server answers. @throws DependencyError otherwise. */
  async ping(): Promise<void> {
    const answer = await this.client.ping();
    if (!answer.success) throw clickHouseOutage(answer.error);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  /** Of the server that was asked last; asked once, and again when that has failed. */
  async #knownSettings(): Promise<ReadonlySet<string>> {
    this.#known ??= this.readServer().then((facts) => new Set(facts.known_settings));
    try {
      return await this.#known;
    } catch (error) {
      this.#known = null;
      throw error;
    }
  }

  #settings(settings: ClickHouseSettings): ClickHouseSettings {
    const tie = this.#tiedTo === '' ? {} : { additional_result_filter: tiedFilter(this.#tiedTo) };
    return { ...WHOLE_ANSWERS, ...tie, ...settings };
  }

  #sharedWith(settings: ClickHouseSettings) {
    const { settings: shared, signal } = this.shared;
    return {
      clickhouse_settings: { ...this.#settings(settings), ...shared },
      // Long lists of parameters do not fit into an address.
      use_multipart_params_auto: true,
      ...(signal === undefined ? {} : { abort_signal: signal }),
    };
  }

  async #attempt<T>(request: () => Promise<T>): Promise<T> {
    try {
      return await request();
    } catch (error) {
      throw clickHouseOutage(error);
    }
  }
}

/** An insert answers with an empty body; anything else is a failure that came after the headers. */
async function drainEmpty(stream: Readable): Promise<void> {
  let text = '';
  for await (const chunk of stream) text += String(chunk);
  if (text.trim() !== '') throw new Error(`unexpected answer to an insert: ${text.slice(0, 500)}`);
}

export type ClickHouseOptions = {
  readonly requestTimeoutMs?: number;
  /** Rows of one block; tests choose few, so that few rows are too many. */
  readonly blockRowsMax?: number;
};

/**
 * Opens a client on a ClickHouse URL (`http://user:password@host:port/database`); nothing is sent
 * yet. Results: 64-bit integers and decimals as text, date-times as ISO texts with `Z`.
 */
export function createClickHouse(url: string, options: ClickHouseOptions = {}): ClickHouse {
  const { requestTimeoutMs = REQUEST_TIMEOUT_MS, blockRowsMax } = options;
  const client = createClient({
    url,
    application: 'minutebook',
    // Its own log repeats every error that it throws, and writes to standard output.
    log: { level: ClickHouseLogLevel.OFF },
    request_timeout: requestTimeoutMs,
    max_open_connections: CONNECTIONS_MAX,
    keep_alive: {
      enabled: true,
      idle_socket_ttl: IDLE_SOCKET_MS,
      eagerly_destroy_stale_sockets: true,
    },
    // Long lists of parameters travel in the body, since an address has a limit.
    use_multipart_params_auto: true,
    compression: { request: false, response: false },
    // A copy: the client adds to it what the URL says.
    clickhouse_settings: { ...SETTINGS },
  });
  return new ClickHouse(url, client, blockRowsMax === undefined ? {} : { blockRowsMax });
}
