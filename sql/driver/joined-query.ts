import { Query, type Connection, type QueryResult } from 'pg';

/** One of the statements that must run before a transaction's own work can, with its values. */
export type Beginning = { readonly text: string; readonly values: readonly string[] };

declare module 'pg' {
  // What the client of node-postgres calls on a query; its types name only `submit`.
  interface Query {
    callback: (error: unknown, result: QueryResult) => void;
    prepare(connection: Connection): void;
    handleDataRow(message: unknown): void;
    handleCommandComplete(message: unknown, connection: Connection): void;
  }
}

const NO_MORE = false;

function send(connection: Connection, { text, values }: Beginning): void {
  connection.parse({ name: '', text, types: [] }, NO_MORE);
  connection.bind({ values: [...values] }, NO_MORE);
  connection.execute({}, NO_MORE);
}

/**
 * A statement that travels together with the statements before it that begin its transaction: one
 * way to the server and back instead of one for each of them, and one system call to write them.
 * They end with one Sync, so that the server runs none of them, nor the statement itself, once an
 * earlier one has failed. The answers of the beginning tell nothing and are left out.
 */
export class JoinedQuery extends Query implements PromiseLike<QueryResult> {
  /** Beginnings that the server has not confirmed so far. */
  #unconfirmed: number;
  readonly #answer: Promise<QueryResult>;

  constructor(
    private readonly beginnings: readonly Beginning[],
    text: string,
    values: readonly unknown[],
  ) {
    // A statement without values would be sent by the simple protocol, which joins nothing.
    const config = { text, values: [...values], queryMode: 'extended' };
    super(config);
    this.#answer = new Promise((resolve, reject) => {
      this.callback = (error, result) => {
        if (error instanceof Error) reject(error);
        else resolve(result);
      };
    });
    this.#unconfirmed = beginnings.length;
  }

  /** Whether the transaction has begun as it should. */
  get hasBegun(): boolean {
    return this.#unconfirmed === 0;
  }

  /** Lets callers write `await` in front of it, as they do for any other query. */
  then<Done = QueryResult, Failed = never>(
    onDone?: ((result: QueryResult) => Done | PromiseLike<Done>) | null,
    onFailed?: ((error: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return this.#answer.then(onDone, onFailed);
  }

  override prepare(connection: Connection): void {
    for (const beginning of this.beginnings) send(connection, beginning);
    super.prepare(connection);
  }

  override handleDataRow(message: unknown): void {
    if (this.hasBegun) super.handleDataRow(message);
  }

  override handleCommandComplete(message: unknown, connection: Connection): void {
    if (this.hasBegun) super.handleCommandComplete(message, connection);
    else this.#unconfirmed -= 1;
  }
}
