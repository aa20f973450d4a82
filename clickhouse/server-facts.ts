import { z } from 'zod';
import { DependencyError } from '../runtime/failure.js';

/** A database of a server. Its UUID tells embedded servers apart, whose own is always zero. */
const IDENTITY = `concat(toString(serverUUID()), '/', toString((SELECT any(uuid)
  FROM system.databases WHERE name = currentDatabase())))`;
const TIE = `concat(${IDENTITY}, '/', version(), '/')`;

const ELSEWHERE =
  'the request reached another ClickHouse server, database or version than the one that was ' +
  'checked (docs/operations.md 8.1)';

/**
 * A condition on inserts: they are refused (code 395) by another server than the client is tied
 * to. The client sends the parameter.
 */
export const IS_TIED = `throwIf(NOT startsWith(${TIE}, {tied_to:String}), '${ELSEWHERE}') = 0`;

/** The setting that makes another server refuse what reads. `tiedTo` has UUIDs and a version. */
export function tiedFilter(tiedTo: string): string {
  return `(SELECT throwIf(NOT startsWith(${TIE}, '${tiedTo}'), '${ELSEWHERE}')) = 0`;
}

/** What a client is tied to: a server and a database, and the version if it is known. */
export function tieOf(identity: string, version?: string): string {
  return version === undefined ? `${identity}/` : `${identity}/${version}/`;
}

/** The server and the database that answered, and what decides whether it may be used. */
export const serverFacts = z.object({
  identity: z.string().regex(/^[0-9a-f-]+\/[0-9a-f-]*$/),
  version: z.string().regex(/^[0-9a-zA-Z.+-]+$/),
  database_engine: z.string(),
  /** Tables that are no plain MergeTree, with their engines. */
  other_engines: z.array(z.string()),
  known_settings: z.array(z.string()),
});
export type ServerFacts = z.output<typeof serverFacts>;

export const SELECT_FACTS = `SELECT ${IDENTITY} AS identity, version() AS version,
  toString((SELECT any(engine) FROM system.databases WHERE name = currentDatabase()))
    AS database_engine,
  (SELECT groupArray(concat(name, ' (', engine, ')')) FROM system.tables
    WHERE database = currentDatabase() AND (endsWith(name, '_v1') OR name = 'schema_migrations')
      AND NOT match(engine, '^(Aggregating|Replacing)?MergeTree$')) AS other_engines,
  (SELECT groupArray(name) FROM system.settings) AS known_settings`;

/** Older versions lack settings that are sent with every request, or were never looked at. */
const OLDEST = [25, 8] as const;

function isOlder(version: string): boolean {
  const [year = 0, month = 0] = version.split('.').map(Number);
  return year < OLDEST[0] || (year === OLDEST[0] && month < OLDEST[1]);
}

function refusal(message: string): DependencyError {
  return new DependencyError(message, { dependency: 'clickhouse', isRetryable: false });
}

const ONE_SERVER =
  'Events are counted exactly once on one server without replicas only, so set CLICKHOUSE_URL to ' +
  'the address of such a server (docs/operations.md 8.1)';

/** @throws DependencyError that says what to do, for a server on which events may count twice. */
export function refuseUnsupported(facts: ServerFacts): void {
  const { version, database_engine: database, other_engines: tables } = facts;
  if (isOlder(version)) {
    throw refusal(
      `ClickHouse ${version} is too old: upgrade it to ${OLDEST.join('.')} or later ` +
        '(docs/operations.md 1.1)',
    );
  }
  if (/^(Replicated|Shared)/.test(database)) {
    throw refusal(`the ClickHouse database has the engine ${database}. ${ONE_SERVER}`);
  }
  if (tables.length > 0) {
    throw refusal(
      `tables of ClickHouse are no plain MergeTree tables: ${tables.join(', ')}. ${ONE_SERVER}`,
    );
  }
}

/** @throws DependencyError when the answers came from several servers, as through a balancer. */
export function refuseSeveral(answers: readonly ServerFacts[]): void {
  const identities = new Set(answers.map(({ identity }) => identity));
  if (identities.size < 2) return;
  throw refusal(
    `CLICKHOUSE_URL leads to several servers (${[...identities].join(', ')}), as a balancer does. ` +
      ONE_SERVER,
  );
}

/** @throws DependencyError when it is another server or database than before. */
export function refuseOther({ identity }: ServerFacts, noted: string): void {
  if (identity === noted) return;
  throw refusal(
    `CLICKHOUSE_URL leads to another ClickHouse server or database (${identity}) than the one that ` +
      `holds what was counted so far (${noted}): set it back. If all rows were moved there, run ` +
      '`minutebook clickhouse accept` (docs/operations.md 8.1)',
  );
}
