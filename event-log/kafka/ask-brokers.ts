import type * as kafkaClient from '@platformatic/kafka';
import { DependencyError } from '../../runtime/failure.js';
import { connectionProblem, type ConnectionProblem } from './connection-problem.js';
import { clientSecurity, type KafkaSecurity } from './security.js';

/** How the brokers are reached. */
export type BrokerAccess = {
  /** `host:port,host:port`; the default port is 9092. */
  readonly brokers: string;
  /** Plain connections when absent. */
  readonly security?: KafkaSecurity | undefined;
};

/** The client for requests that the driver does not offer. */
type AdminClient = typeof kafkaClient;

/** A request over an open connection. */
type Ask<T> = (connection: kafkaClient.Connection, client: AdminClient) => Promise<T>;

const CLIENT_ID = 'minutebook';

/** The addresses in `host:port,host:port`. An IPv6 address stands in brackets. */
export function brokerAddresses(
  brokers: string,
): readonly { readonly host: string; readonly port: number }[] {
  return brokers.split(',').map((text) => {
    const [, host = text.trim(), port = '9092'] =
      /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(text.trim()) ?? [];
    return { host, port: Number(port) };
  });
}

/** The answer also when it reports errors: they stand in it, beside what they are about. */
async function answerOf<T>(answer: Promise<T>, client: AdminClient): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof client.ResponseError) return error['response'] as T;
    throw error;
  }
}

type Question<T> = { readonly client: AdminClient; readonly ask: Ask<T> };
type Address = ReturnType<typeof brokerAddresses>[number];

/**
 * Closes a connection at once and stops its timers. It does not wait for the broker to agree, since
 * a broker that hangs never would.
 */
function endConnection(connection: kafkaClient.Connection): void {
  connection.close(() => undefined);
  // A connection to an address that could not be used never got a socket.
  (connection.socket as typeof connection.socket | undefined)?.destroy();
}

async function askBroker<T>(
  { client, ask }: Question<T>,
  { host, port }: Address,
  options: kafkaClient.ConnectionOptions,
): Promise<T> {
  const connection = new client.Connection(CLIENT_ID, options);
  // What fails is told to whoever waits for it; an event that nobody hears would end the program.
  connection.on('error', () => undefined);
  try {
    await connection.connect(host, port);
    return await answerOf(ask(connection, client), client);
  } finally {
    endConnection(connection);
  }
}

/** What none of the brokers answering means: it is for good when each of them refuses. */
function unanswered(brokers: string, problems: readonly ConnectionProblem[]): DependencyError {
  const reasons = [...new Set(problems.map(({ reason }) => reason))].join('; ');
  return new DependencyError(
    `event log in Kafka: none of the brokers ${brokers} answers: ${reasons}`,
    { dependency: 'event-log', isRetryable: !problems.every(({ isLasting }) => isLasting) },
  );
}

/**
 * Sends one request over a connection of its own, to the brokers in turn until one answers. Each is
 * given the time for connecting, and again for its answer, which may report errors.
 * @throws DependencyError when no broker answers.
 */
export async function askBrokers<T>(
  { brokers, security }: BrokerAccess,
  timeoutMs: number,
  ask: Ask<T>,
): Promise<T> {
  // Loaded when it is needed, because that takes time and memory (D-017).
  const client = await import('@platformatic/kafka');
  const timeouts = { connectTimeout: timeoutMs, requestTimeout: timeoutMs };
  const problems: ConnectionProblem[] = [];
  for (const address of brokerAddresses(brokers)) {
    try {
      const options = { ...timeouts, ...clientSecurity(security, address.host) };
      return await askBroker({ client, ask }, address, options);
    } catch (error) {
      problems.push(connectionProblem(error, client));
    }
  }
  throw unanswered(brokers, problems);
}
