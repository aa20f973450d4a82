import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { readConfig } from '../../runtime/config.js';
import { projectRoot } from '../../runtime/project.js';
import { startLocalKafka } from './local-kafka.js';

const PORT_DEFAULT = 9092;

function portFrom(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new InvalidArgumentError('must be a number from 0 to 65535');
}

/** Resolves on SIGINT or SIGTERM, or when the broker has ended by itself. */
function untilStopped(brokerExited: Promise<void>): Promise<'signal' | 'broker'> {
  return new Promise((finish) => {
    process.once('SIGINT', () => {
      finish('signal');
    });
    process.once('SIGTERM', () => {
      finish('signal');
    });
    void brokerExited.then(() => {
      finish('broker');
    });
  });
}

/**
 * `minutebook kafka [--port 9092] [--directory DIR]`: runs a local Apache Kafka in the foreground
 * until Ctrl-C, to try the product with it. Its data stay in the directory.
 * @throws KafkaUnavailable when this machine cannot run a broker; the message says what is missing.
 */
export async function runKafkaVerb(argv: readonly string[]): Promise<void> {
  const { MINUTEBOOK_DATA_DIR: dataDirectory } = readConfig(['MINUTEBOOK_DATA_DIR'], process.env);
  const options = new Command('kafka')
    .description('run a local Apache Kafka broker in the foreground')
    .option('--port <port>', 'port on 127.0.0.1', portFrom, PORT_DEFAULT)
    .option('--directory <path>', 'directory of its files', join(dataDirectory, 'kafka'))
    .parse([...argv], { from: 'user' })
    .opts<{ readonly port: number; readonly directory: string }>();
  const kafka = await startLocalKafka({
    ...options,
    onProgress: (text) => {
      console.error(text);
    },
  });
  console.log(`KAFKA_BROKERS=${kafka.brokers}`);
  console.error(
    `Apache Kafka is running (process ${kafka.pid}). In another terminal, in ${projectRoot}:\n` +
      `  KAFKA_BROKERS=${kafka.brokers} npm start\n` +
      'Ctrl-C stops it.',
  );
  const cause = await untilStopped(kafka.exited);
  await kafka.stop();
  if (cause === 'broker')
    throw new Error('the broker ended by itself; see kafka.log beside its data');
  console.error('stopped');
}
