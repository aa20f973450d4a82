import { obtainKafka } from '../harness/kafka.js';

/** Settings that choose the log: the brokers of Kafka, or none for the log in PostgreSQL. */
export type LogSettings = Readonly<Record<string, string>>;

/**
 * Does the work with a broker that is stopped afterwards, unless `KAFKA_BROKERS` names one that
 * runs. @param without what comes instead where no broker can be had; it is told the reason.
 */
export async function withKafka<T>(
  work: (settings: LogSettings) => Promise<T>,
  without: (skipReason: string) => T,
): Promise<T> {
  const { kafka, skipReason } = await obtainKafka();
  if (kafka === null) return without(skipReason);
  try {
    return await work({ KAFKA_BROKERS: kafka.brokers });
  } finally {
    await kafka.stop();
  }
}

/**
 * Does the work on the log that the command line names, `postgres` or `kafka`.
 * @throws Error for another one, and where no broker can be had.
 */
export async function onLog<T>(
  log: string,
  work: (settings: LogSettings) => Promise<T>,
): Promise<T> {
  if (log === 'postgres') return work({});
  if (log !== 'kafka') throw new Error('--log takes postgres or kafka');
  return withKafka(work, (skipReason) => {
    throw new Error(`no Kafka: ${skipReason}`);
  });
}
