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
import { serverProperties, type ClusterPlace, type SecuredListener } from './server-properties.js';

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
  /** A second listener, with TLS or a login. */
  readonly secured?: SecuredListener;
  /** Its place among several brokers; absent: it is the only one. */
  readonly place?: ClusterPlace;
  readonly onProgress?: (text: string) => void;
};

/** Long enough for the first start on a busy machine; usually it takes 3 s. */
const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 20_000;
const POLL_MS = 100;
const PROBE_TIMEOUT_MS = 1_000;
/**
 * For a broker that shares few cores with everything else and is started often: compiled quickly
 * rather than well, and collected by one thread. Fresh, it takes singles at twice the rate.
 */
const JAVA_OPTIONS = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xms64m', '-Xmx256m'];

async function freePort(wanted: number): Promise<number> {
  const port = await findFreePort(wanted);
  if (port !== null) return port;
  throw new KafkaUnavailable(`port ${wanted} on 127.0.0.1 is in use by another program`);
}

/** A new cluster id, which must not begin with a minus sign. */
export function newClusterId(): string {
  return `M${randomBytes(16).toString('base64url').slice(1)}`;
}

async function format(jars: string, properties: string, options: LocalKafkaOptions): Promise<void> {
  const id = options.place?.clusterId ?? newClusterId();
  const users = (options.secured?.scramUsers ?? []).flatMap((user) => ['--add-scram', user]);
  const tool = ['-cp', `${jars}/*`, 'kafka.tools.StorageTool', 'format'];
  await runProgram('java', [...tool, '-t', id, '-c', properties, ...users], START_TIMEOUT_MS);
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
    return spawn('java', [...JAVA_OPTIONS, '-cp', `${jars}/*`, 'kafka.Kafka', properties], {
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

async function prepare(jars: string, options: LocalKafkaOptions): Promise<void> {
  const { directory, port, secured } = options;
  const properties = join(directory, 'server.properties');
  const place = options.place ?? { nodeId: 1, controllerPorts: [await freePort(0)] };
  await writeFile(properties, serverProperties({ directory, port, secured, place }));
  if (existsSync(join(directory, 'logs', 'meta.properties'))) return;
  await format(jars, properties, options);
}

/**
 * Starts a real Apache Kafka 4 in KRaft mode on loopback. It ends with this process, however that
 * ends, and can be started on the same directory again with its data.
 * @throws KafkaUnavailable when Java or Maven is missing, the port is in use or it does not start.
 */
export async function startLocalKafka(options: LocalKafkaOptions): Promise<LocalKafka> {
  const { onProgress = () => undefined } = options;
  const directory = resolve(options.directory);
  await mkdir(directory, { recursive: true });
  const jars = await findKafkaJars(onProgress);
  const port = await freePort(options.port);
  await prepare(jars, { ...options, directory, port });
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
