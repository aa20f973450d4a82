import { Client, types } from 'pg';
import {
  BackendTerminatedError,
  createDriverFactory,
  type DriverClientEventEmitter,
  type DriverConfiguration,
} from 'slonik';
import { AssertionFailed, assertThat, codeOf } from '../../runtime/failure.js';

/** How the text of a column becomes its value. `oid` and `arrayOid` are those of pg_type. */
export type TypeParser = {
  readonly oid: number;
  readonly arrayOid: number;
  readonly parse: (text: string) => unknown;
};

type Setup = Parameters<typeof createDriverFactory>[0];
type PoolClient = Awaited<ReturnType<Awaited<ReturnType<Setup>>['createPoolClient']>>;
type Answer = Awaited<ReturnType<PoolClient['query']>>;

const SHUT_DOWN = '57P01';

/** The number of the type text[]. */
const TEXT_ARRAY = 1009 as Parameters<typeof types.getTypeParser>[0];
const textsOf = types.getTypeParser(TEXT_ARRAY) as (text: string) => (string | null)[];

/** For node-postgres: our parsers, and its own for every other type. */
function typesFor(parsers: readonly TypeParser[]): { getTypeParser: typeof types.getTypeParser } {
  const known = new Map<number, (text: string) => unknown>();
  for (const { oid, arrayOid, parse } of parsers) {
    known.set(oid, parse);
    known.set(arrayOid, (array) =>
      textsOf(array).map((text) => (text === null ? null : parse(text))),
    );
  }
  return { getTypeParser: (oid, format) => known.get(oid) ?? types.getTypeParser(oid, format) };
}

const milliseconds = (given: number | 'DISABLE_TIMEOUT'): number =>
  given === 'DISABLE_TIMEOUT' ? 0 : given;

function openClient(
  configuration: DriverConfiguration,
  parsers: ReturnType<typeof typesFor>,
): Client {
  return new Client({
    connectionString: configuration.connectionUri,
    connectionTimeoutMillis: milliseconds(configuration.connectionTimeout),
    statement_timeout: milliseconds(configuration.statementTimeout),
    idle_in_transaction_session_timeout: milliseconds(
      configuration.idleInTransactionSessionTimeout,
    ),
    types: parsers,
  });
}

/** One connection of a pool, as slonik wants it. */
function poolClientOf(client: Client, events: DriverClientEventEmitter): PoolClient {
  /** Why no statement can run on it any more. */
  let loss: Error | null = null;
  let hasEnded = false;
  client.on('error', (error) => {
    loss ??= error;
    // slonik listens no longer once it has ended the connection.
    if (!hasEnded) events.emit('error', new BackendTerminatedError(error));
  });
  client.on('notice', ({ message }) => {
    if (message !== undefined) events.emit('notice', { message });
  });
  const query = async (text: string, values?: unknown[]): Promise<Answer> => {
    try {
      const { command, fields, rowCount, rows } = await client.query(text, values);
      const named = fields.map(({ name, dataTypeID }) => ({ name, dataTypeId: dataTypeID }));
      return { command: command as Answer['command'], fields: named, rowCount, rows };
    } catch (error) {
      // slonik sends no ROLLBACK after this one. What ended the connection says more than a
      // statement that finds it ended.
      if (loss !== null) throw new BackendTerminatedError(loss);
      if (codeOf(error) === SHUT_DOWN) throw new BackendTerminatedError(error as Error);
      throw error;
    }
  };
  return {
    connect: async () => {
      await client.connect();
      // The server can have said goodbye together with its welcome.
      if (loss !== null) throw loss;
    },
    end: async () => {
      loss ??= new Error('The connection was closed while a statement ran.');
      await client.end();
      hasEnded = true;
    },
    query,
    stream: () => {
      throw new AssertionFailed('no statement is read as a stream');
    },
  };
}

/**
 * Connects slonik with node-postgres. Its own `@slonik/pg-driver` asks the server for the numbers
 * of types, on a connection whose loss it reports to nobody, which ends the process; the numbers of
 * built-in types never change.
 */
export const postgresDriver = (
  parsers: readonly TypeParser[],
): ReturnType<typeof createDriverFactory> =>
  createDriverFactory(({ driverConfiguration }) => {
    assertThat(driverConfiguration.typeParsers.length === 0, 'types are parsed by our own driver');
    const ours = typesFor(parsers);
    return Promise.resolve({
      createPoolClient: ({ clientEventEmitter }) =>
        Promise.resolve(poolClientOf(openClient(driverConfiguration, ours), clientEventEmitter)),
    });
  });
