import { GenericContainer, Wait } from 'testcontainers';
import { drawFreePort } from '../../runtime/port.js';
import type { TestKafka } from './kafka.js';

const IMAGE = 'apache/kafka:4.1.1';
const CONTROLLER_PORT = 9093;

/** Apache Kafka in a container of the Docker engine. */
export async function startKafkaContainer(): Promise<TestKafka> {
  // Clients come back to the advertised port, so it must be the same inside and outside.
  const port = await drawFreePort();
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts({ container: port, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_LISTENERS: `PLAINTEXT://0.0.0.0:${port},CONTROLLER://0.0.0.0:${CONTROLLER_PORT}`,
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_CONTROLLER_QUORUM_VOTERS: `1@localhost:${CONTROLLER_PORT}`,
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start();
  return {
    brokers: `127.0.0.1:${port}`,
    outage: null,
    stop: async () => {
      await container.stop();
    },
  };
}
