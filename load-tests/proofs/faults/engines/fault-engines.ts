import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KafkaUnavailable } from '../../../../cli/kafka/kafka-jars.js';
import { startLocalKafka } from '../../../../cli/kafka/local-kafka.js';
import { startEmbeddedClickHouse } from '../../../../clickhouse/embedded.js';
import { loadRdKafka } from '../../../../event-log/kafka/rdkafka.js';
import { ConfigError } from '../../../../runtime/config.js';
import { startEmbeddedPostgres } from '../../../../sql/embedded.js';
import { FaultProxy } from './fault-proxy.js';
import { MortalEngine } from './mortal-engine.js';
import { drawFreePort } from '../../../../runtime/port.js';
import { mountSmallDisk, type SmallDiskOffer } from './small-disk.js';

export type LogKind = 'postgres' | 'kafka';

/** Kafka's part, or why this machine has none. */
export type BrokerOffer =
  | { readonly broker: MortalEngine; readonly brokers: string; readonly skipReason: null }
  | { readonly broker: null; readonly skipReason: string };

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

async function startBroker(directory: string): Promise<BrokerOffer> {
  const port = await drawFreePort();
  process.env['JAVA_TOOL_OPTIONS'] ??= JAVA_QUICK_START;
  const broker = new MortalEngine('broker', () => startLocalKafka({ directory, port }));
  try {
    await loadRdKafka();
    // Later starts are repeated until they succeed; this one says what is missing.
    await broker.start(1);
    return { broker, brokers: `127.0.0.1:${port}`, skipReason: null };
  } catch (error) {
    const isLack = error instanceof KafkaUnavailable || error instanceof ConfigError;
    if (!isLack || process.env['REQUIRE_KAFKA'] === '1') throw error;
    return { broker: null, skipReason: error.message };
  }
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

/** Starts all engines that the logs need, on directories that vanish at the end. */
export async function startFaultEngines(logs: readonly LogKind[]): Promise<FaultEngines> {
  const directory = await mkdtemp(join(tmpdir(), 'minutebook-faults-'));
  // In memory, since recovery on a busy disk takes seconds; what a kill -9 leaves is the same.
  const places = ['postgres', 'kafka'].map((name) => mountSmallDisk(join(directory, name)));
  const disk = mountSmallDisk(join(directory, 'clickhouse'));
  const [postgres, clickhouse, kafka] = await Promise.all([
    startDatabase('postgres', join(directory, 'postgres', 'files')),
    startDatabase('clickhouse', join(directory, 'clickhouse', 'files')),
    logs.includes('kafka')
      ? startBroker(join(directory, 'kafka', 'files'))
      : { broker: null, skipReason: 'no run wants it' },
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
      await Promise.all([postgres.engine.stop(), clickhouse.engine.stop(), kafka.broker?.stop()]);
      for (const place of [...places, disk]) place.disk?.unmount();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
