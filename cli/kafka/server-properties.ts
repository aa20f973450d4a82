import { join } from 'node:path';

/** A listener with TLS or a login, beside the plain one that the broker itself uses. */
export type SecuredListener = {
  readonly port: number;
  readonly protocol: 'SSL' | 'SASL_SSL' | 'SASL_PLAINTEXT';
  /** Settings of Kafka that count for this listener only. */
  readonly settings: Readonly<Record<string, string>>;
  /** Users that the storage is formatted with: `SCRAM-SHA-256=[name=…,password=…]`. */
  readonly scramUsers?: readonly string[];
};

/** Which of several brokers on loopback this is. */
export type ClusterPlace = {
  /** Counted from 1. */
  readonly nodeId: number;
  /** Ports of the controllers of all brokers, in the order of their node ids. */
  readonly controllerPorts: readonly number[];
  readonly clusterId: string;
};

export type BrokerProperties = {
  readonly directory: string;
  readonly port: number;
  readonly secured: SecuredListener | undefined;
  readonly place: Omit<ClusterPlace, 'clusterId'>;
};

/** A record of the largest size with its headers (event-log.ts); the topic sets its own limit. */
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;

function listeners({ port, secured, place }: BrokerProperties): Record<string, string> {
  const own = place.controllerPorts[place.nodeId - 1] ?? 0;
  const open = [`PLAINTEXT://127.0.0.1:${port}`];
  const kinds = ['CONTROLLER:PLAINTEXT', 'PLAINTEXT:PLAINTEXT'];
  if (secured !== undefined) {
    open.push(`SECURED://127.0.0.1:${secured.port}`);
    kinds.push(`SECURED:${secured.protocol}`);
  }
  const settings = Object.entries(secured?.settings ?? {}).map(
    ([name, value]) => [`listener.name.secured.${name}`, value] as const,
  );
  return {
    listeners: [...open, `CONTROLLER://127.0.0.1:${own}`].join(','),
    'advertised.listeners': open.join(','),
    'listener.security.protocol.map': kinds.join(','),
    'inter.broker.listener.name': 'PLAINTEXT',
    'controller.listener.names': 'CONTROLLER',
    ...Object.fromEntries(settings),
  };
}

/**
 * The file `server.properties` of a broker and controller in one process, on loopback only.
 * Internal topics have a replica on every broker.
 */
export function serverProperties(broker: BrokerProperties): string {
  const { directory, place } = broker;
  const voters = place.controllerPorts.map((port, index) => `${index + 1}@127.0.0.1:${port}`);
  const brokers = voters.length;
  // One of several brokers may be away.
  const insync = Math.max(1, brokers - 1);
  const settings = {
    'process.roles': 'broker,controller',
    'node.id': place.nodeId,
    'controller.quorum.voters': voters.join(','),
    ...listeners(broker),
    'log.dirs': join(directory, 'logs'),
    'auto.create.topics.enable': false,
    'default.replication.factor': brokers,
    'offsets.topic.replication.factor': brokers,
    'offsets.topic.num.partitions': 1,
    // Taken from the heap at the start: by default 128 MiB, half of all that the broker uses. Only
    // its own small topics are compacted.
    'log.cleaner.dedupe.buffer.size': 2 * 1024 * 1024,
    'transaction.state.log.replication.factor': brokers,
    'transaction.state.log.num.partitions': 1,
    'transaction.state.log.min.isr': insync,
    'share.coordinator.state.topic.replication.factor': brokers,
    'share.coordinator.state.topic.min.isr': insync,
    'group.initial.rebalance.delay.ms': 0,
    // A broker that was killed can register again only after this time, 9 s by default.
    'broker.session.timeout.ms': 3_000,
    'broker.heartbeat.interval.ms': 500,
    // A broker that should lead partitions does so soon after it came, 300 s by default.
    'leader.imbalance.check.interval.seconds': 1,
    'message.max.bytes': MESSAGE_BYTES_MAX,
    'socket.request.max.bytes': 2 * MESSAGE_BYTES_MAX,
  };
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
