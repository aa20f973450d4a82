import type * as kafkaClient from '@platformatic/kafka';
import { messageOf } from '../../runtime/failure.js';
import { kafkaFailureOf } from './kafka-failure.js';

/** How the brokers are reached. */
export type BrokerAccess = {
  /** `host:port,host:port`; the default port is 9092. */
  readonly brokers: string;
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

/** The innermost message, which says what happened: the client wraps an error more than once. */
function reasonOf(error: unknown, client: AdminClient): string {
  if (error instanceof client.TimeoutError) return 'the broker did not answer in time';
  if (error instanceof AggregateError && error.errors.length > 0) {
    return reasonOf(error.errors[0], client);
  }
  if (error instanceof Error && error.cause !== undefined) return reasonOf(error.cause, client);
  return messageOf(error);
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

async function askBroker<T>(
  address: { readonly host: string; readonly port: number },
  timeoutMs: number,
  { client, ask }: { readonly client: AdminClient; readonly ask: Ask<T> },
): Promise<T> {
  const timeouts = { connectTimeout: timeoutMs, requestTimeout: timeoutMs };
  const connection = new client.Connection(CLIENT_ID, timeouts);
  // What fails is told to whoever waits for it; an event that nobody hears would end the program.
  connection.on('error', () => undefined);
  try {
    await connection.connect(address.host, address.port);
    return await answerOf(ask(connection, client), client);
  } finally {
    // A broker that hangs would not answer an orderly end either.
    connection.socket.destroy();
  }
}

/**
 * Sends one request over a connection of its own, to the brokers in turn until one answers. Each is
 * given the time for connecting, and again for its answer, which may report errors.
 * @throws DependencyError when no broker answers.
 */
export async function askBrokers<T>(
  { brokers }: BrokerAccess,
  timeoutMs: number,
  ask: Ask<T>,
): Promise<T> {
  // Loaded here because it takes a third of a second, which programs without Kafka need not spend.
  const client = await import('@platformatic/kafka');
  const problems: unknown[] = [];
  for (const address of brokerAddresses(brokers)) {
    try {
      return await askBroker(address, timeoutMs, { client, ask });
    } catch (error) {
      problems.push(error);
    }
  }
  const reasons = problems.map((problem) => reasonOf(problem, client)).join('; ');
  throw kafkaFailureOf(
    new Error(reasons, { cause: problems[0] }),
    `none of the brokers ${brokers} answers`,
  );
}
