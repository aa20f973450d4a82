import { Client, types } from 'pg';
import {
  BackendTerminatedError,
  createDriverFactory,
  type DriverClientEventEmitter,
  type DriverConfiguration,
} from 'slonik';
import { AssertionFailed, assertPresent, codeOf } from '../../runtime/failure.js';
import { boundStatements, closeClient, KEEP_ALIVE } from './bounded-statements.js';

type Setup = Parameters<typeof createDriverFactory>[0];
type PoolClient = Awaited<ReturnType<Awaited<ReturnType<Setup>>['createPoolClient']>>;
type Answer = Awaited<ReturnType<PoolClient['query']>>;

/** SQLSTATE of a statement whose server is being shut down. */
const SHUT_DOWN = '57P01';

type TypeNumber = Parameters<typeof types.getTypeParser>[0];

/**
 * The numbers (`pg_type.oid`) of a type and of its arrays. Those of built-in types are the same on
 * every server; node-postgres has no names for arrays.
 */
const NUMBERS: ReadonlyMap<string, readonly [type: TypeNumber, arrays: number]> = new Map([
  ['numeric', [types.builtins.NUMERIC, 1231]],
  ['int8', [types.builtins.INT8, 1016]],
  ['date', [types.builtins.DATE, 1182]],
  ['timestamp', [types.builtins.TIMESTAMP, 1115]],
  ['interval', [types.builtins.INTERVAL, 1187]],
  ['timestamptz', [types.builtins.TIMESTAMPTZ, 1185]],
]);
const TEXT_ARRAY = 1009 as TypeNumber;
const textsOf = types.getTypeParser(TEXT_ARRAY) as (array: string) => (string | null)[];

type Types = { readonly getTypeParser: typeof types.getTypeParser };

/** For node-postgres: the given parsers, and its own for every other type. */
function typesFor(parsers: DriverConfiguration['typeParsers']): Types {
  const known = new Map<number, (text: string) => unknown>();
  for (const { name, parse } of parsers) {
    const [type, arrays] = assertPresent(NUMBERS.get(name), `the number of type ${name}`);
    known.set(type, parse);
    known.set(arrays, (array) =>
      textsOf(array).map((text) => (text === null ? null : parse(text))),
    );
  }
  return { getTypeParser: (oid, format) => known.get(oid) ?? types.getTypeParser(oid, format) };
}

const milliseconds = (given: number | 'DISABLE_TIMEOUT'): number =>
  given === 'DISABLE_TIMEOUT' ? 0 : given;

function openClient(configuration: DriverConfiguration, parsers: Types): Client {
  const statementTimeoutMs = milliseconds(configuration.statementTimeout);
  const client = new Client({
    ...KEEP_ALIVE,
    connectionString: configuration.connectionUri,
    connectionTimeoutMillis: milliseconds(configuration.connectionTimeout),
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: milliseconds(
      configuration.idleInTransactionSessionTimeout,
    ),
    types: parsers,
  });
  boundStatements(client, statementTimeoutMs);
  return client;
}

/** One connection of a pool, as slonik wants it. */
function poolClientOf(client: Client, events: DriverClientEventEmitter): PoolClient {
  /** Why no statement can run on it any more. */
  let loss: Error | null = null;
  let hasEnded = false;
  client.on('error', (error) => {
    loss ??= error;
    // After the end of the connection slonik no longer listens, and an error event that nobody
    // listens to ends the process.
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
      // The first error of a lost connection says why it was lost; later ones only say that it is.
      // After a BackendTerminatedError slonik does not try to roll back, which could only fail.
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
      await closeClient(client);
      hasEnded = true;
    },
    query,
    stream: () => {
      throw new AssertionFailed('no statement is read as a stream');
    },
  };
}

/**
 * Lets slonik work with PostgreSQL through node-postgres. It takes the place of
 * `@slonik/pg-driver`, which asks the server for the numbers of types when a pool opens. Nobody
 * listens to the errors of the connection that it uses for that, so the loss of this connection
 * ended the whole process.
 */
export const postgresDriver = createDriverFactory(({ driverConfiguration }) => {
  const parsers = typesFor(driverConfiguration.typeParsers);
  return Promise.resolve({
    createPoolClient: ({ clientEventEmitter }) =>
      Promise.resolve(poolClientOf(openClient(driverConfiguration, parsers), clientEventEmitter)),
  });
});
