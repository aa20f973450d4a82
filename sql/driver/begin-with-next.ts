import { sql, type DriverClient, type FragmentSqlToken, type QuerySqlToken } from 'slonik';
import { z } from 'zod';
import type { Environment } from '../../contract/environment.js';
import { formatInstant, type InstantMs } from '../../contract/instant.js';
import { assertThat } from '../../runtime/failure.js';
import { JoinedQuery, type Beginning } from './joined-query.js';

const entering = ({ tenantId, environmentId }: Environment): FragmentSqlToken => sql.fragment`
  SELECT set_config('role', 'minutebook_app', true),
         set_config('minutebook.tenant_id', ${tenantId}, true),
         set_config('minutebook.environment_id', ${environmentId}, true)`;

/** What a transaction enters, and what the program believes that its test clock shows. */
type Entered = { readonly environment: Environment; readonly testClock: InstantMs | null };

const enteringAtClock = ({ environment, testClock }: Entered): FragmentSqlToken => sql.fragment`
  ${entering(environment)},
         check_test_clock(${testClock === null ? '' : formatInstant(testClock)})`;

/** Limits the rest of the transaction to one environment, by row-level security. */
export const enterEnvironment = (environment: Environment): QuerySqlToken =>
  sql.type(z.unknown())`${entering(environment)}`;

/**
 * As `enterEnvironment`, and refuses the transaction when the test clock of the environment shows
 * another instant (`KnownTestClocks`).
 */
export const enterAtClock = (entered: Entered): QuerySqlToken =>
  sql.type(z.unknown())`${enteringAtClock(entered)}`;

/**
 * Begins a transaction that reads one environment and changes nothing. All its statements see the
 * data as they were at the first one. It is two statements in one text, so that slonik prepares,
 * logs and checks only one.
 */
export const startReading = (entered: Entered): QuerySqlToken => sql.type(z.unknown())`
  START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;${enteringAtClock(entered)}`;

/**
 * Makes sure that the transaction has begun: sent to the server only where nothing else was. For
 * work that decided by the test clock alone.
 */
export const haveBegun = sql.type(z.unknown())`SELECT 'begun'`;

const NOWHERE = { tenantId: '', environmentId: '' };
const NO_CLOCK = { environment: NOWHERE, testClock: null };
const textOf = ({ sql: text }: QuerySqlToken): string => text.replaceAll('$slonik_', '$');

/**
 * The texts that begin a transaction, and the single statements that each consists of. Only the
 * last statement of a text has values. `START TRANSACTION` is the one that slonik itself sends.
 */
const BEGINNINGS: ReadonlyMap<string, readonly string[]> = new Map(
  [
    'START TRANSACTION',
    textOf(startReading(NO_CLOCK)),
    textOf(enterEnvironment(NOWHERE)),
    textOf(enterAtClock(NO_CLOCK)),
  ].map((text) => [text, text.split(';')]),
);

type Values = Parameters<DriverClient['query']>[1];
type Answer = Awaited<ReturnType<DriverClient['query']>>;

const NO_ANSWER: Answer = { command: 'SELECT', fields: [], rowCount: 0, rows: [] };

/**
 * Holds back the statements that begin a transaction until its first real statement comes, and
 * sends all of them at once. If a beginning fails, the real statement fails with it and everything
 * after it is refused until the transaction ends. So nothing ever runs outside its transaction, or
 * in another environment.
 */
export function beginningWithNext(client: DriverClient): DriverClient {
  const kept: Beginning[] = [];
  /** Why the transaction has not begun, while its statements could still come. */
  let failure: { readonly error: unknown } | null = null;

  const begin = async (text: string, values: Values): Promise<Answer> => {
    const joined = new JoinedQuery(kept.splice(0), text, values ?? []);
    try {
      // The driver hands on what it is given, and node-postgres sends a query object as it says.
      return await (Reflect.apply(client.query, client, [joined]) as Promise<Answer>);
    } catch (error) {
      if (!joined.hasBegun) failure = { error };
      throw error;
    }
  };

  /** Whether there was something that was never sent. */
  const forget = (): boolean => kept.splice(0).length > 0;

  const query = (text: string, values?: Values): Promise<Answer> => {
    if (text === 'ROLLBACK') {
      failure = null;
      if (forget()) return Promise.resolve(NO_ANSWER);
    }
    if (failure !== null) return Promise.reject(failure.error);
    if (text === haveBegun.sql && kept.length === 0) return Promise.resolve(NO_ANSWER);
    const beginnings = BEGINNINGS.get(text);
    if (beginnings !== undefined) {
      const last = beginnings.length - 1;
      const texts = (values ?? []).map(String);
      kept.push(...beginnings.map((each, at) => ({ text: each, values: at < last ? [] : texts })));
      return Promise.resolve(NO_ANSWER);
    }
    return kept.length === 0 ? client.query(text, values) : begin(text, values);
  };

  const stream: DriverClient['stream'] = (text, values) => {
    assertThat(kept.length === 0, 'a stream cannot be the first statement of a transaction');
    return client.stream(text, values);
  };

  const release = (): Promise<void> => {
    forget();
    failure = null;
    return client.release();
  };

  return { ...client, query, stream, release };
}
