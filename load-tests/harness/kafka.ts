import { access } from 'node:fs/promises';
import { KafkaUnavailable } from '../../cli/kafka/kafka-jars.js';
import { startLocalKafka } from '../../cli/kafka/local-kafka.js';
import { loadRdKafka } from '../../event-log/kafka/rdkafka.js';
import { ConfigError } from '../../runtime/config.js';
import { makeTestDirectory } from './test-directory.js';

/** A broker that tests may use. */
export type TestKafka = {
  readonly brokers: string;
  /** Kills and restarts the broker; null when this test run did not start it. */
  readonly outage: { kill(): Promise<void>; restart(): Promise<void> } | null;
  stop(): Promise<void>;
};

/** Kafka for this test file, or why there is none. */
export type KafkaOffer<T> =
  | { readonly kafka: T; readonly skipReason: null }
  | { readonly kafka: null; readonly skipReason: string };

async function startLocal(): Promise<TestKafka> {
  const { path: directory, remove } = await makeTestDirectory();
  const onProgress = (text: string): void => {
    process.stderr.write(`kafka: ${text}\n`);
  };
  try {
    let broker = await startLocalKafka({ directory, port: 0, onProgress });
    const port = Number(broker.brokers.split(':')[1]);
    return {
      brokers: broker.brokers,
      outage: {
        kill: () => broker.kill(),
        restart: async () => {
          broker = await startLocalKafka({ directory, port, onProgress });
        },
      },
      stop: async () => {
        await broker.stop();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/**
 * Starts Kafka, or says why this machine cannot, which skips the tests; they need the driver, too.
 * With `REQUIRE_KAFKA=1` it is an error to have none.
 */
export async function offerKafka<T>(startKafka: () => Promise<T>): Promise<KafkaOffer<T>> {
  try {
    await loadRdKafka();
    return { kafka: await startKafka(), skipReason: null };
  } catch (error) {
    const isLack = error instanceof KafkaUnavailable || error instanceof ConfigError;
    if (!isLack || process.env['REQUIRE_KAFKA'] === '1') throw error;
    return { kafka: null, skipReason: error.message };
  }
}

/**
 * Kafka by address (`KAFKA_BROKERS`), in a container when a Docker engine answers, otherwise local
 * from Maven's jars.
 */
export function obtainKafka(): Promise<KafkaOffer<TestKafka>> {
  return offerKafka(start);
}

async function hasDocker(): Promise<boolean> {
  if (process.env['DOCKER_HOST'] !== undefined) return true;
  return access('/var/run/docker.sock').then(
    () => true,
    () => false,
  );
}

async function start(): Promise<TestKafka> {
  const brokers = process.env['KAFKA_BROKERS'] ?? '';
  if (brokers !== '') return { brokers, outage: null, stop: () => Promise.resolve() };
  if (!(await hasDocker())) return startLocal();
  // Loading the library takes a second.
  const { startKafkaContainer } = await import('./kafka-container.js');
  return startKafkaContainer();
}
