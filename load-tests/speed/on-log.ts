import { obtainKafka } from '../harness/kafka.js';

/**
 * Does the work with the settings that name the log: none for PostgreSQL, a broker of its own for
 * Kafka, unless `KAFKA_BROKERS` names one.
 * @param log of the command line: `postgres` or `kafka`.
 * @throws Error for another one, and where no broker can be had.
 */
export async function onLog<T>(
  log: string,
  work: (settings: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  if (log === 'postgres') return work({});
  if (log !== 'kafka') throw new Error('--log takes postgres or kafka');
  const { kafka, skipReason } = await obtainKafka();
  if (kafka === null) throw new Error(`no Kafka: ${skipReason}`);
  try {
    return await work({ KAFKA_BROKERS: kafka.brokers });
  } finally {
    await kafka.stop();
  }
}
