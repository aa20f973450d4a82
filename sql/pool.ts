import {
  createPool,
  SchemaValidationError,
  sql,
  type CommonQueryMethods,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type DriverFactory,
  type DriverTypeParser,
  type Interceptor,
} from 'slonik';
import { z } from 'zod';
import type { Environment } from '../contract/environment.js';
import type { InstantMs } from '../contract/instant.js';
import { AssertionFailed, assertThat, codeOf } from '../runtime/failure.js';
import {
  beginningWithNext,
  enterAtClock,
  haveBegun,
  startReading,
} from './driver/begin-with-next.js';
import { freedWhenLost } from './driver/freed-when-lost.js';
import { postgresDriver } from './driver/postgres-driver.js';
import { connectOutageOf, outageOf } from './outage.js';
import { currentTenant, mapInTurns, onBehalfOf, takeTurn } from '../runtime/loop-turns.js';
import { createPlaces, type Places } from './places.js';
import { createRowReader } from './read-rows.js';
import { PROGRAMS_OPTION, withServerOptions } from './programs-role.js';
import { withSession } from './session.js';
import { isOtherInstant, KnownTestClocks } from './test-clocks.js';

const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than any statement should take, so that a stuck one does not keep its connection. */
const STATEMENT_TIMEOUT_MS = 60_000;
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000;
/** Idle connections are kept for a while, since opening one takes about 5 ms (SCRAM). */
const IDLE_TIMEOUT_MS = 60_000;

/** SQLSTATE of a write where only reading is possible. */
const READ_ONLY = '25006';

/** On a node that only reads that is an outage; in a transaction that only reads it is a bug. */
function refuseWrites(error: unknown): never {
  if (codeOf(error) === READ_ONLY) {
    throw new AssertionFailed('a transaction that only reads writes or locks');
  }
  throw error;
}

/** The session is in UTC with ISO dates, so the text is `2026-11-20 10:00:00.123+00`. */
function instantFromText(text: string): InstantMs {
  const instant = Date.parse(`${text.replace(' ', 'T')}:00`);
  assertThat(Number.isFinite(instant), `not a valid timestamptz: ${text}`);
  return instant;
}

const asText = (text: string): string => text;

/**
 * numeric, int8, date, timestamp and interval stay text, so that no digit is lost. timestamptz
 * becomes milliseconds since 1970 (InstantMs), the exact precision of timestamptz(3).
 */
const TYPE_PARSERS: readonly DriverTypeParser[] = [
  ...['numeric', 'int8', 'date', 'timestamp', 'interval'].map((name) => ({ name, parse: asText })),
  { name: 'timestamptz', parse: instantFromText },
];

/**
 * Checks every row against the schema of its statement; a row that does not match is a bug. What
 * goes on with the result waits for the turn of its tenant, and long results are checked in slices.
 */
const validateRows: Interceptor = {
  name: 'validate-rows',
  afterQueryExecution: async ({ resultParser }, query, result) => {
    await takeTurn();
    if (resultParser === undefined) return null;
    const read = createRowReader(resultParser, result.rows.length);
    const checked = await mapInTurns(result.rows, (row) => {
      const parsed = read(row);
      if (parsed.success) return parsed.data as typeof row;
      throw new SchemaValidationError(query, row, parsed.error.issues);
    });
    // slonik hands on the list that the driver made; `transformRow` could not wait.
    (result.rows as unknown[]).splice(0, checked.length, ...checked);
    return null;
  },
};

/** What takes a connection of the pool until it has ended. */
const USES: readonly (string | symbol)[] = [
  'any',
  'anyFirst',
  'connect',
  'exists',
  'many',
  'manyFirst',
  'maybeOne',
  'maybeOneFirst',
  'one',
  'oneFirst',
  'query',
  'transaction',
];

type Member = (...parameters: unknown[]) => Promise<unknown>;

/**
 * The pool, with the outages among its rejections turned into DependencyErrors. Who waits too long
 * for a connection is turned away, too.
 */
function reportingOutages(pool: DatabasePool, places: Places): DatabasePool {
  return new Proxy(pool, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || !USES.includes(key)) return member;
      return async (...parameters: unknown[]): Promise<unknown> => {
        try {
          return await places(currentTenant(), () =>
            Reflect.apply(member as Member, target, parameters),
          );
        } catch (error) {
          throw outageOf(error);
        }
      };
    },
  });
}

const createDriver: DriverFactory = async (configuration) => {
  const driver = await postgresDriver(configuration);
  return {
    createClient: async () => freedWhenLost(beginningWithNext(await driver.createClient())),
  };
};

/** Thrown in a transaction to roll it back although nothing has failed. */
export class Rollback extends Error {}

/** Work in one environment; it learns what the test clock shows, null when there is none. */
type EnvironmentWork<T, Connection> = (
  connection: Connection,
  testClock: InstantMs | null,
) => Promise<T>;

/** What was decided without any statement was decided by the test clock, which is checked here. */
async function rollBack(connection: DatabaseTransactionConnection, error: unknown): Promise<never> {
  if (!(error instanceof Rollback)) throw error;
  await connection.query(haveBegun).catch((failure: unknown) => {
    if (isOtherInstant(failure)) throw failure;
  });
  throw error;
}

/** A bounded pool of connections to PostgreSQL, and the ways to run a transaction. */
export class Database {
  /**
   * For statements outside any environment: on the log, on what the aggregators share, and on the
   * functions of D-014. Its role may touch no table of a tenant.
   */
  readonly slonik: DatabasePool;
  readonly #testClocks = new KnownTestClocks();

  constructor(
    readonly url: string,
    pool: DatabasePool,
    places: Places,
  ) {
    this.slonik = reportingOutages(pool, places);
  }

  /**
   * Runs one transaction as the application role in one environment. Row-level security hides the
   * rows of other environments, even from a statement without a WHERE, and refuses to write them.
   * When the server rolls the transaction back (deadlock, serialization), it is retried up to 5
   * times, and it runs again when the test clock of the environment has moved, so `work` must do
   * nothing but SQL.
   * @throws DependencyError when PostgreSQL fails; or what `work` throws, after rolling back.
   */
  asEnvironment<T>(
    environment: Environment,
    work: EnvironmentWork<T, DatabaseTransactionConnection>,
  ): Promise<T> {
    return this.#checked(environment, async (testClock) => {
      const outcome = await this.slonik.connect(async (pooled) => {
        try {
          const result = await pooled.transaction(async (connection) => {
            await connection.query(enterAtClock({ environment, testClock }));
            return work(connection, testClock).catch((error: unknown) =>
              rollBack(connection, error),
            );
          });
          return { result };
        } catch (error) {
          // An error that leaves `connect` closes the connection, which is still usable here.
          if (error instanceof Rollback || isOtherInstant(error)) return { rolledBackBy: error };
          throw error;
        }
      });
      if ('rolledBackBy' in outcome) throw outcome.rolledBackBy;
      return outcome.result;
    });
  }

  /**
   * Runs statements that only read, as the application role in one environment. All of them see
   * the state of the database at the first statement (REPEATABLE READ), whatever others commit
   * meanwhile. The server refuses writes and row locks. What `work` read is handed on at once:
   * the end of the transaction, which can take nothing back, still travels then, and only after it
   * the connection serves others. `work` runs again when the test clock has moved.
   * @throws DependencyError when PostgreSQL fails; or what `work` throws.
   */
  readSnapshot<T>(
    environment: Environment,
    work: EnvironmentWork<T, CommonQueryMethods>,
  ): Promise<T> {
    return this.#checked(
      environment,
      (testClock) =>
        new Promise((resolve, reject) => {
          // Not `transaction`, which would need another round trip to set the isolation level. An
          // error closes the connection, which ends the transaction.
          const reading = this.slonik.connect(async (connection) => {
            await connection.query(startReading({ environment, testClock }));
            const result = await work(connection, testClock).catch(refuseWrites);
            await connection.query(haveBegun);
            const committed = connection.query(sql.type(z.unknown())`COMMIT`);
            resolve(result);
            await committed;
          });
          // Without effect once the result is handed on: a COMMIT that fails costs its connection.
          reading.catch(reject);
        }),
    );
  }

  /** Takes connections, and turns on the event loop, on behalf of the tenant. */
  #checked<T>(
    environment: Environment,
    work: (testClock: InstantMs | null) => Promise<T>,
  ): Promise<T> {
    return onBehalfOf(environment.tenantId, () => this.#testClocks.checked(environment, work));
  }

  /** Runs one transaction outside any environment, like `slonik`. Same retries and errors. */
  transaction<T>(work: (connection: DatabaseTransactionConnection) => Promise<T>): Promise<T> {
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

/** Type parsers rely on UTC and ISO dates. */
const SESSION_SETTINGS = '-c TimeZone=UTC -c DateStyle=ISO';

/**
 * As whom a pool works. `programs` is a role that owns nothing and sees no row of a tenant outside
 * a transaction of its environment, whatever the login may do. `owner` is the login itself: for
 * what prepares a database or repairs it across tenants (bootstrap, an operator's verb).
 */
export type WorkingRole = 'programs' | 'owner';

export type PoolOptions = {
  readonly poolSize: number;
  readonly role?: WorkingRole;
  /** A longer statement is ended by the server; tests choose a short time. */
  readonly statementTimeoutMs?: number;
};

/**
 * Opens a pool on a PostgreSQL URL (`postgres://user:password@host:port/database`), as the role of
 * the programs unless told otherwise.
 * Results have numeric, int8 and date as text and timestamptz as InstantMs. Every row is checked
 * against the schema of its statement.
 * @throws DependencyError when the server cannot be reached or refuses the credentials.
 */
export async function createDatabase(url: string, options: PoolOptions): Promise<Database> {
  const { statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const role = options.role === 'owner' ? '' : PROGRAMS_OPTION;
  try {
    const address = withServerOptions(url, `${SESSION_SETTINGS} ${role}`.trim());
    // Tries once whether the server lets us in. slonik would only try at the first statement.
    await withSession(address, () => Promise.resolve());
    const pool = await createPool(address, {
      maximumPoolSize: options.poolSize,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      statementTimeout: statementTimeoutMs,
      idleInTransactionSessionTimeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      idleTimeout: IDLE_TIMEOUT_MS,
      // The default, DISCARD ALL, would cost a round trip per statement. It is not needed: settings
      // end with their transaction, and sessions with a state are outside the pool (session.ts).
      resetConnection: () => Promise.resolve(),
      driverFactory: createDriver,
      typeParsers: TYPE_PARSERS,
      interceptors: [validateRows],
    });
    // An idle connection that the server drops is replaced at the next use. Without a listener the
    // error event would end the process.
    pool.on('error', () => undefined);
    const places = createPlaces(options.poolSize, statementTimeoutMs + CONNECT_TIMEOUT_MS);
    return new Database(url, pool, places);
  } catch (error) {
    throw connectOutageOf(error);
  }
}
