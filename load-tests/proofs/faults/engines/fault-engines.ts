import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KafkaUnavailable } from '../../../../cli/kafka/kafka-jars.js';
import { newClusterId, startLocalKafka } from '../../../../cli/kafka/local-kafka.js';
import { startEmbeddedClickHouse } from '../../../../clickhouse/embedded.js';
import { loadRdKafka } from '../../../../event-log/kafka/rdkafka.js';
import { ConfigError } from '../../../../runtime/config.js';
import { assertPresent } from '../../../../runtime/failure.js';
import { startEmbeddedPostgres } from '../../../../sql/embedded.js';
import { BrokerCluster } from './broker-cluster.js';
import { FaultProxy } from './fault-proxy.js';
import { MortalEngine } from './mortal-engine.js';
import { drawFreePort } from '../../../../runtime/port.js';
import { mountSmallDisk, type SmallDiskOffer } from './small-disk.js';

export type LogKind = 'postgres' | 'kafka';

/** Kafka's part, or why this machine has none. */
export type BrokerOffer =
  | { readonly broker: MortalEngine; readonly cluster: BrokerCluster; readonly skipReason: null }
  | { readonly broker: null; readonly cluster: null; readonly skipReason: string };

/** Engines of our own, kept warm between runs; only faults restart them. */
export type FaultEngines = {
  readonly postgres: MortalEngine;
  readonly clickhouse: MortalEngine;
  readonly kafka: BrokerOffer;
  /** Addresses for the checks, past the proxies. */
  readonly databaseUrl: string;
  readonly clickhouseUrl: string;
  readonly postgresProxy: FaultProxy;
  readonly clickhouseProxy: FaultProxy;
  /** The disk that ClickHouse writes to. */
  readonly disk: SmallDiskOffer;
  close(): Promise<void>;
};

/** The broker is killed often, so a quick start matters more than its speed. */
const JAVA_QUICK_START = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto';

async function drawFreePorts(count: number): Promise<readonly number[]> {
  const ports: number[] = [];
  for (let drawn = 0; drawn < count; drawn += 1) ports.push(await drawFreePort());
  return ports;
}

/** Brokers that are not started yet. */
export async function makeCluster(directory: string, count: number): Promise<BrokerCluster> {
  const ports = await drawFreePorts(count);
  const controllerPorts = await drawFreePorts(count);
  const clusterId = newClusterId();
  const engines = ports.map((port, index) => {
    const place = count === 1 ? {} : { place: { nodeId: index + 1, controllerPorts, clusterId } };
    const own = join(directory, String(index + 1));
    const start = () => startLocalKafka({ directory: own, port, ...place });
    return new MortalEngine(count === 1 ? 'broker' : `broker ${index + 1}`, start);
  });
  return new BrokerCluster(engines, ports.map((port) => `127.0.0.1:${port}`).join(','));
}

async function startBrokers(directory: string, count: number): Promise<BrokerOffer> {
  process.env['JAVA_TOOL_OPTIONS'] ??= JAVA_QUICK_START;
  const cluster = await makeCluster(directory, count);
  try {
    await loadRdKafka();
    // Later starts are repeated until they succeed; this one says what is missing.
    await cluster.start(1);
    const broker = assertPresent(cluster.engines[0], 'a broker');
    return { broker, cluster, skipReason: null };
  } catch (error) {
    const isLack = error instanceof KafkaUnavailable || error instanceof ConfigError;
    if (!isLack || process.env['REQUIRE_KAFKA'] === '1') throw error;
    return { broker: null, cluster: null, skipReason: error.message };
  }
}

/** The settings by which programs reach Kafka; several brokers must hold every record. */
export function kafkaSettingsOf({ kafka }: FaultEngines): Readonly<Record<string, string>> {
  if (kafka.cluster === null) throw new Error(`no Kafka: ${kafka.skipReason}`);
  const { engines, brokers } = kafka.cluster;
  const replicas = engines.length > 1 ? { MINUTEBOOK_LOG_REPLICAS: String(engines.length) } : {};
  return { KAFKA_BROKERS: brokers, ...replicas };
}

type Started = { readonly engine: MortalEngine; readonly url: string; readonly port: number };

async function startDatabase(name: 'postgres' | 'clickhouse', directory: string): Promise<Started> {
  const start = name === 'postgres' ? startEmbeddedPostgres : startEmbeddedClickHouse;
  const port = await drawFreePort();
  let url = '';
  const engine = new MortalEngine(name, async () => {
    const running = await start({ directory, port });
    url = running.url;
    return running;
  });
  await engine.start();
  return { engine, url, port };
}

/**
 * Starts all engines that the logs need, on directories that vanish at the end.
 * @param brokerCount brokers of Kafka.
 */
export async function startFaultEngines(
  logs: readonly LogKind[],
  brokerCount = 1,
): Promise<FaultEngines> {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-faults-'));
  // In memory, since recovery on a busy disk takes seconds; what a kill -9 leaves is the same.
  const places = ['postgres', 'kafka'].map((name) => mountSmallDisk(join(directory, name)));
  const disk = mountSmallDisk(join(directory, 'clickhouse'));
  const [postgres, clickhouse, kafka] = await Promise.all([
    startDatabase('postgres', join(directory, 'postgres', 'files')),
    startDatabase('clickhouse', join(directory, 'clickhouse', 'files')),
    logs.includes('kafka')
      ? startBrokers(join(directory, 'kafka', 'files'), brokerCount)
      : { broker: null, cluster: null, skipReason: 'no run wants it' },
  ]);
  const postgresProxy = await FaultProxy.open(postgres.port);
  const clickhouseProxy = await FaultProxy.open(clickhouse.port);
  return {
    postgres: postgres.engine,
    clickhouse: clickhouse.engine,
    kafka,
    databaseUrl: postgres.url,
    clickhouseUrl: clickhouse.url,
    postgresProxy,
    clickhouseProxy,
    disk,
    close: async () => {
      await Promise.all([postgresProxy.close(), clickhouseProxy.close()]);
      await Promise.all([postgres.engine.stop(), clickhouse.engine.stop(), kafka.cluster?.stop()]);
      for (const place of [...places, disk]) place.disk?.unmount();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
