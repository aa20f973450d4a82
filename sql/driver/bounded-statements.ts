import { Stream } from 'node:stream';
import type { Client } from 'pg';

/** A server that is only slow has ended the statement by then. */
const ANSWER_MARGIN_MS = 2_000;
/** How long a server has for closing a connection that is no longer needed. */
const GOODBYE_MS = 1_000;

/** For node-postgres: an idle connection ends within half a minute of its server's machine. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 } as const;

/** With the code of the operating system for it, so that it counts as an outage like others. */
const noAnswer = (withinMs: number): Error =>
  Object.assign(new Error(`no answer within ${withinMs / 1_000} s, the connection was closed`), {
    code: 'ETIMEDOUT',
  });

/**
 * Closes the connection when a statement is not answered a little after the server should have
 * ended it: then the server, or the way to it, has vanished. The statement fails, and so does every
 * later one, since an answer that still came would be taken for that of another statement.
 * @param statementTimeoutMs the `statement_timeout` of the connection. A statement that takes
 *   longer needs a connection with a longer one; SET does not change what is said here.
 */
export function boundStatements(client: Client, statementTimeoutMs: number): void {
  const withinMs = statementTimeoutMs + ANSWER_MARGIN_MS;
  const send = client.query.bind(client) as (...statement: unknown[]) => unknown;
  const query = (...statement: unknown[]): unknown => {
    const timer = setTimeout(() => {
      client.connection.stream.destroy(noAnswer(withinMs));
    }, withinMs).unref();
    const answered = (): void => clearTimeout(timer);
    const answer = send(...statement);
    if (answer instanceof Stream) answer.once('close', answered);
    else void Promise.resolve(answer).then(answered, answered);
    return answer;
  };
  Object.assign(client, { query });
}

/** Closes a connection, also when the server does not take part in that. */
export async function closeClient(client: Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS);
  try {
    await client.end();
  } finally {
    clearTimeout(timer);
  }
}
