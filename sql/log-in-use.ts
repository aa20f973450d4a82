import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { ConfigError } from '../runtime/config.js';
import { DependencyError } from '../runtime/failure.js';
import { MEMBER_ALIVE_SECONDS } from './aggregator-member.js';
import type { Database } from './pool.js';
import { statement } from './statement.js';

const useRow = z.object({
  in_use: z.string().nullable(),
  running: z.string().nullable(),
  begun: z.string().nullable(),
});

const takeLogIntoUse = statement('take-log-into-use', z.unknown());
const readLogInUse = statement('read-log-in-use', useRow);
const endUse = statement('end-use-of-log', z.unknown());

type Programs = Pick<Database, 'slonik'>;

/** Whether a log of this id is, or was under an earlier id, the log in PostgreSQL. */
export function isPostgresLog(logId: string): boolean {
  return logId.startsWith('pg-');
}

/** What the programs know of the log in use, and of logs other than the given one. */
type LogUse = {
  /** Null before the first program has started, and after `minutebook log close`. */
  readonly inUse: string | null;
  /** Another log on which an aggregator runs. */
  readonly running: string | null;
  /** Another log with a batch that was begun and is not finished. */
  readonly begun: string | null;
};

/** @throws DependencyError when PostgreSQL fails. */
export async function readLogUse({ slonik }: Programs, log: string): Promise<LogUse> {
  const row = await slonik.one(readLogInUse({ log, aliveSeconds: MEMBER_ALIVE_SECONDS }));
  return { inUse: row.in_use, running: row.running, begun: row.begun };
}

function refusal(reason: string, { log, other }: { log: string; other: string }): ConfigError {
  return new ConfigError([
    `${reason}, and this program was started on log ${log}: give all programs the same settings of the log; to go over to log ${log}, first close log ${other} (docs/operations.md 3.2)`,
  ]);
}

/** Why nobody may write to or read this log now, but whoever closes the other; null if one may. */
function refusalOf(log: string, { inUse, running, begun }: LogUse): ConfigError | null {
  if (inUse === log) return null;
  if (inUse !== null) return refusal(`log ${inUse} is in use`, { log, other: inUse });
  if (running !== null) {
    return refusal(`an aggregator runs on log ${running}`, { log, other: running });
  }
  return begun === null ? null : refusalOfBegun(log, begun);
}

function refusalOfBegun(log: string, other: string): ConfigError {
  return refusal(`log ${other} has a batch that was begun and is not finished`, { log, other });
}

/**
 * Takes the log of a program into use, unless another log is. So of processes with different
 * settings those of the first log alone run, and events do not come into a log that nobody reads.
 * @throws ConfigError that names both logs; DependencyError when PostgreSQL fails.
 */
export async function useLog(database: Programs, log: string): Promise<void> {
  const aliveSeconds = MEMBER_ALIVE_SECONDS;
  await database.slonik.query(takeLogIntoUse({ log, aliveSeconds }));
  const refused = refusalOf(log, await readLogUse(database, log));
  if (refused !== null) throw refused;
}

/**
 * The same for a program that counts. Batches that were begun on another log have stored ids that
 * bar duplicates for ever, so an operator ends them first (docs/internals/architecture.md 3.4).
 * @throws the same errors.
 */
export async function useLogToCount(database: Programs, log: string): Promise<void> {
  await useLog(database, log);
  const { begun } = await readLogUse(database, log);
  if (begun !== null) throw refusalOfBegun(log, begun);
}

/**
 * For a program that neither accepts nor counts events, once it has opened a log.
 * @throws DependencyError that names both logs when another log is in use.
 */
export async function refuseOtherLog(database: Programs, log: string): Promise<void> {
  const { inUse } = await readLogUse(database, log);
  const refused = refusalOf(log, { inUse, running: null, begun: null });
  if (refused === null) return;
  throw new DependencyError(refused.message, { dependency: 'event-log', isRetryable: false });
}

/**
 * The same before it has opened one: what it would say of a log at another place would be wrong.
 * @throws ConfigError when the log in use is in PostgreSQL and not in Kafka, or the other way.
 */
export async function refuseLogElsewhere(
  database: Programs,
  of: { readonly isInKafka: boolean },
): Promise<void> {
  const { inUse } = await readLogUse(database, '');
  if (inUse === null || isPostgresLog(inUse) !== of.isInKafka) return;
  const setting = of.isInKafka ? 'KAFKA_BROKERS is set' : 'KAFKA_BROKERS is not set';
  const place = of.isInKafka ? 'PostgreSQL' : 'Kafka';
  throw new ConfigError([
    `log ${inUse} in ${place} is in use, and ${setting}: give all programs the same settings of the log (docs/operations.md 3.2)`,
  ]);
}

/** Makes room for the next log. Only for an operator's verb that has closed this one. */
export async function endUseOfLog(
  connection: Pick<CommonQueryMethods, 'query'>,
  log: string,
): Promise<void> {
  await connection.query(endUse({ log }));
}
