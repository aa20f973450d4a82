import {
  createPool,
  SchemaValidationError,
  sql,
  type CommonQueryMethods,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type DriverTypeParser,
  type Interceptor,
} from 'slonik';
import { z } from 'zod';
import type { Environment } from '../contract/environment.js';
import type { InstantMs } from '../contract/instant.js';
import { assertThat } from '../runtime/failure.js';
import { connectOutageOf, outageOf } from './outage.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than any statement of ours should run; a stuck one must not hold its connection. */
const STATEMENT_TIMEOUT_MS = 60_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
/** Idle connections stay, since opening one costs about 5 ms (SCRAM). */
const IDLE_TIMEOUT_MS = 60_000;

/** The session is in UTC with ISO dates, so the text is `2026-11-20 10:00:00.123+00`. */
function instantFromText(text: string): InstantMs {
  const instant = Date.parse(`${text.replace(' ', 'T')}:00`);
  assertThat(Number.isFinite(instant), `a timestamptz that is no instant: ${text}`);
  return instant;
}

const asText = (text: string): string => text;

/**
 * numeric, int8, date, timestamp and interval stay text, so that no digit is lost on the way;
 * timestamptz becomes milliseconds since 1970 (InstantMs), which timestamptz(3) holds exactly.
 */
const TYPE_PARSERS: readonly DriverTypeParser[] = [
  ...['numeric', 'int8', 'date', 'timestamp', 'interval'].map((name) => ({ name, parse: asText })),
  { name: 'timestamptz', parse: instantFromText },
];

/** Checks every row against the schema of its statement: a row of another shape is a bug. */
const validateRows: Interceptor = {
  name: 'validate-rows',
  transformRow: (context, query, row) => {
    if (context.resultParser === undefined) return row;
    const parsed = context.resultParser.safeParse(row);
    if (parsed.success) return parsed.data;
    throw new SchemaValidationError(query, row, parsed.error.issues);
  },
};

/** The pool with every rejection of its methods turned into a DependencyError where it is one. */
function reportingOutages(pool: DatabasePool): DatabasePool {
  return new Proxy(pool, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function') return member;
      return (...parameters: unknown[]): unknown => {
        const result: unknown = Reflect.apply(member, target, parameters);
        if (!(result instanceof Promise)) return result;
        return result.catch((error: unknown) => {
          throw outageOf(error);
        });
      };
    },
  });
}

/** What a transaction throws to be rolled back although nothing is broken. */
export class Rollback extends Error {}

/** From here to the end of the transaction row-level security shows one environment only. */
async function enterEnvironment(
  connection: CommonQueryMethods,
  environment: Environment,
): Promise<void> {
  await connection.query(sql.type(z.unknown())`
    SELECT set_config('role', 'minutebook_app', true),
           set_config('minutebook.tenant_id', ${environment.tenantId}, true),
           set_config('minutebook.environment_id', ${environment.environmentId}, true)`);
}

/** PostgreSQL as the product sees it: a bounded pool, and the ways to run a transaction. */
export class Database {
  /** For statements that serve all tenants: it runs as the owner, whom isolation does not bind. */
  readonly slonik: DatabasePool;

  constructor(
    readonly url: string,
    pool: DatabasePool,
  ) {
    this.slonik = reportingOutages(pool);
  }

  /**
   * Runs one transaction as the application role in one environment: row-level security lets it
   * see and write no row of another, even without a WHERE. It is tried again, up to 5 times, when
   * the server rolls it back (deadlock, serialization), so it must do nothing but SQL.
   * @throws DependencyError when PostgreSQL fails; whatever `work` throws, after rolling back.
   */
  async asEnvironment<T>(
    environment: Environment,
    work: (connection: DatabaseTransactionConnection) => Promise<T>,
  ): Promise<T> {
    const outcome = await this.slonik.connect(async (pooled) => {
      try {
        const result = await pooled.transaction(async (connection) => {
          await enterEnvironment(connection, environment);
          return work(connection);
        });
        return { result };
      } catch (error) {
        // An error that leaves `connect` closes the connection; this one is no fault of it.
        if (error instanceof Rollback) return { rollback: error };
        throw error;
      }
    });
    if ('rollback' in outcome) throw outcome.rollback;
    return outcome.result;
  }

  /**
   * Runs statements that only read, as the application role in one environment. All of them see
   * one state of the database, that of the first statement (REPEATABLE READ), whatever others
   * commit meanwhile; the server refuses writes and row locks.
   * @throws DependencyError when PostgreSQL fails; whatever `work` throws.
   */
  readSnapshot<T>(
    environment: Environment,
    work: (connection: CommonQueryMethods) => Promise<T>,
  ): Promise<T> {
    // Not `transaction`, which leaves no room for the isolation level in its first statement: it
    // would take a round trip of its own. An error closes the connection and thereby ends it.
    return this.slonik.connect(async (connection) => {
      await connection.query(sql.type(z.unknown())`
        START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`);
      await enterEnvironment(connection, environment);
      const result = await work(connection);
      await connection.query(sql.type(z.unknown())`COMMIT`);
      return result;
    });
  }

  /** Runs one transaction as the owner: for work across tenants. Same retries and errors. */
  asOwner<T>(work: (connection: DatabaseTransactionConnection) => Promise<T>): Promise<T> {
    return this.slonik.transaction(work);
  }

  /** Resolves when the server answers. @throws DependencyError otherwise. */
  async ping(): Promise<void> {
    await this.slonik.query(sql.type(z.unknown())`SELECT 1`);
  }

  /** Waits for running statements (5 s at most) and closes all connections. */
  close(): Promise<void> {
    return this.slonik.end();
  }
}

/** The address with our session settings: UTC and ISO dates, which the type parsers rely on. */
function withSessionSettings(url: string): string {
  const address = new URL(url);
  const given = address.searchParams.get('options');
  const ours = '-c TimeZone=UTC -c DateStyle=ISO';
  address.searchParams.set('options', given === null ? ours : `${given} ${ours}`);
  // A plus sign would reach the server as a plus sign; it wants a blank.
  address.search = address.searchParams.toString().replaceAll('+', '%20');
  return address.href;
}

/**
 * Opens a pool on a PostgreSQL URL (`postgres://user:password@host:port/database`).
 * Results: numeric, int8 and date as text, timestamptz as InstantMs; every row is checked against
 * the schema of its statement.
 * @throws DependencyError when the server cannot be reached or refuses the credentials.
 */
export async function createDatabase(
  url: string,
  options: { readonly poolSize: number },
): Promise<Database> {
  try {
    const pool = await createPool(withSessionSettings(url), {
      maximumPoolSize: options.poolSize,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      statementTimeout: STATEMENT_TIMEOUT_MS,
      idleInTransactionSessionTimeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      idleTimeout: IDLE_TIMEOUT_MS,
      // What a transaction sets ends with it, and sessions with a state of their own are no part
      // of the pool (session.ts): DISCARD ALL would be a round trip more for every statement.
      resetConnection: () => Promise.resolve(),
      typeParsers: TYPE_PARSERS,
      interceptors: [validateRows],
    });
    // An idle connection that the server drops is replaced at the next use; without a listener the
    // event would end the process.
    pool.on('error', () => undefined);
    return new Database(url, pool);
  } catch (error) {
    throw connectOutageOf(error);
  }
}
