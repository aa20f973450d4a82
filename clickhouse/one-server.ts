import { z } from 'zod';
import { DependencyError } from '../runtime/failure.js';
import type { Database } from '../sql/pool.js';
import { statement } from '../sql/statement.js';
import type { ClickHouse } from './client.js';
import { refuseOther, refuseSeveral, refuseUnsupported, tieOf } from './server-facts.js';

/** Side by side, so that each has a connection of its own, which a balancer may lead elsewhere. */
const QUESTIONS_AT_START = 8;

const identityRow = z.object({ identity: z.string() });
const readIdentity = statement('read-clickhouse-identity', identityRow);
const noteIdentity = statement('note-clickhouse-identity', z.unknown());

/** Keeps to one ClickHouse server and database, since the protocol counts exactly once on one. */
export type OneServer = {
  /**
   * For a program that starts: ties the client to the server that PostgreSQL remembers. One that
   * finds ClickHouse away starts all the same.
   * @throws DependencyError that says what to do when the address leads elsewhere, or to several.
   */
  readonly begin: () => Promise<void>;
  /**
   * Asks again which server it is, and ties the client to it and its version. The first one is
   * remembered. @throws DependencyError, also when ClickHouse or PostgreSQL fails.
   */
  readonly check: () => Promise<void>;
};

/** See `OneServer`. */
export function createOneServer(
  { slonik }: Pick<Database, 'slonik'>,
  clickhouse: ClickHouse,
): OneServer {
  const read = async (): Promise<string | null> =>
    (await slonik.maybeOne(readIdentity()))?.identity ?? null;

  const checkAnswers = async (questions: number): Promise<void> => {
    const asked = Array.from({ length: questions }, () => clickhouse.readServer());
    const answers = await Promise.all(asked);
    refuseSeveral(answers);
    for (const facts of answers) {
      refuseUnsupported(facts);
      const { identity, version } = facts;
      if ((await read()) === null) await slonik.query(noteIdentity({ identity }));
      refuseOther(facts, (await read()) ?? identity);
      clickhouse.tieTo(tieOf(identity, version));
    }
  };

  return {
    begin: async () => {
      const noted = await read();
      if (noted !== null) clickhouse.tieTo(tieOf(noted));
      try {
        await checkAnswers(QUESTIONS_AT_START);
      } catch (error) {
        if (!(error instanceof DependencyError && error.isRetryable)) throw error;
      }
    },
    check: () => checkAnswers(1),
  };
}
