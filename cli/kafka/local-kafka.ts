import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describeTopic } from '../../event-log/kafka/describe-topic.js';
import { messageOf } from '../../runtime/failure.js';
import { findFreePort } from '../../runtime/port.js';
import { findKafkaJars, KafkaUnavailable, runProgram } from './kafka-jars.js';

/** An Apache Kafka broker on this machine. */
export type LocalKafka = {
  /** `127.0.0.1:port`, the value for `KAFKA_BROKERS`. */
  readonly brokers: string;
  readonly pid: number;
  /** Resolves when the broker has ended, for whatever reason. */
  readonly exited: Promise<void>;
  /** Shuts the broker down. A second call does nothing. */
  stop(): Promise<void>;
  /** Ends the broker like a crash. It can be started on the same directory and port again. */
  kill(): Promise<void>;
};

export type LocalKafkaOptions = {
  /** The directory of the broker's files, which the first start creates. */
  readonly directory: string;
  /** 0 means any free port. */
  readonly port: number;
  readonly onProgress?: (text: string) => void;
};

/** Long enough for the first start on a busy machine; usually it takes 3 s. */
const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 100;
const PROBE_TIMEOUT_MS = 1_000;
const HEAP = ['-Xms128m', '-Xmx512m'];
/** A record of the largest size with its headers (event-log.ts); the topic sets its own limit. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

/** Broker and controller in one process, on loopback only; internal topics have one replica. */
function serverProperties(directory: string, port: number, controllerPort: number): string {
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': join(directory, 'logs'),
    'auto.create.topics.enable': false,
    'default.replication.factor': 1,
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 1,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.min.isr': 1,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    'group.initial.rebalance.delay.ms': 0,
    // A broker that was killed can register again only after this time, 9 s by default.
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    'message.max.bytes': MESSAGE_BYTES_MAX,
    'socket.request.max.bytes': 2 * MESSAGE_BYTES_MAX,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

async function freePort(wanted: number): Promise<number> {
  const port = await findFreePort(wanted);
  if (port !== null) return port;
  throw new KafkaUnavailable(`port ${wanted} on 127.0.0.1 is in use by another program`);
}

/** Formats the storage with a new cluster id, which must not begin with a minus sign. */
async function format(jars: string, properties: string): Promise<void> {
  const id = `M${randomBytes(16).toString('base64url').slice(1)}`;
  const tool = ['-cp', `${jars}/*`, 'kafka.tools.StorageTool', 'format'];
  await runProgram('java', [...tool, '-t', id, '-c', properties], START_TIMEOUT_MS);
}

/** Ends the broker when this process ends without stopping it, even by SIGKILL. */
function guard(pid: number): ChildProcess {
  const guardian = spawn('sh', ['-c', 'read _; kill -9 "$1"', 'sh', String(pid)], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guardian.on('error', () => undefined);
  guardian.unref();
  return guardian;
}

async function launch(jars: string, directory: string): Promise<ChildProcess> {
  const log = await open(join(directory, 'kafka.log'), 'a');
  const properties = join(directory, 'server.properties');
  try {
    return spawn('java', [...HEAP, '-cp', `${jars}/*`, 'kafka.Kafka', properties], {
      cwd: directory,
      // A separate process group, so that Ctrl-C ends only our program, which then ends the broker.
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
  } finally {
    await log.close();
  }
}

async function waitUntilReady(
  brokers: string,
  server: ChildProcess,
  directory: string,
): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      const { brokerCount } = await describeTopic({ brokers, topic: 'any' }, PROBE_TIMEOUT_MS);
      if (brokerCount > 0) return;
    } catch (error) {
      if (server.exitCode !== null || server.signalCode !== null || Date.now() > deadline) {
        const log = await readFile(join(directory, 'kafka.log'), 'utf8').catch(() => '');
        throw new KafkaUnavailable(
          `Kafka did not start (${messageOf(error)}):\n${log.slice(-1_500)}`,
          error,
        );
      }
    }
    await delay(POLL_MS);
  }
}

async function prepare(jars: string, directory: string, port: number): Promise<void> {
  const properties = join(directory, 'server.properties');
  await writeFile(properties, serverProperties(directory, port, await freePort(0)));
  if (!existsSync(join(directory, 'logs', 'meta.properties'))) await format(jars, properties);
}

/**
 * Starts a real Apache Kafka 4 in KRaft mode on loopback. It ends with this process, however that
 * ends, and can be started on the same directory again with its data.
 * @throws KafkaUnavailable when Java or Maven is missing, the port is in use or it does not start.
 */
export async function startLocalKafka(options: LocalKafkaOptions): Promise<LocalKafka> {
  const onProgress = options.onProgress ?? (() => undefined);
  const directory = resolve(options.directory);
  await mkdir(directory, { recursive: true });
  const jars = await findKafkaJars(onProgress);
  const port = await freePort(options.port);
  await prepare(jars, directory, port);
  onProgress('starting the broker');
  const server = await launch(jars, directory);
  const exited = once(server, 'exit').then(() => undefined);
  const guardian = guard(server.pid ?? 0);
  void exited.then(() => guardian.kill());
  const brokers = `127.0.0.1:${port}`;
  const kafka = running(brokers, server, exited);
  try {
    await waitUntilReady(brokers, server, directory);
    return kafka;
  } catch (error) {
    await kafka.kill();
    throw error;
  }
}

function running(brokers: string, server: ChildProcess, exited: Promise<void>): LocalKafka {
  const hasEnded = (): boolean => server.exitCode !== null || server.signalCode !== null;
  const kill = async (): Promise<void> => {
    if (!hasEnded()) server.kill('SIGKILL');
    await exited;
  };
  const stop = async (): Promise<void> => {
    if (!hasEnded()) server.kill('SIGTERM');
    await Promise.race([exited, delay(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    await kill();
  };
  return { brokers, pid: server.pid ?? 0, exited, stop, kill };
}
