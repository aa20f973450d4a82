import { messageOf } from '../../runtime/failure.js';
import { KAFKA_ERROR, kafkaFailureOf } from './kafka-failure.js';
import { askBroker, WireWriter, type BrokerAddress, type WireReader } from './wire.js';

/** A description of the cluster and one topic. */
export type TopicDescription = {
  readonly clusterId: string;
  readonly brokerCount: number;
  /** Null when there is no such topic. */
  readonly topic: {
    /** 16 bytes as base64url. A topic that is created later with the same name has another id. */
    readonly topicId: string;
    readonly partitionCount: number;
    /** Replicas of the partition that has the fewest, whether they are up or not. */
    readonly replicas: number;
    /** Whether every partition has a leader. A new topic needs a moment until it has. */
    readonly isReady: boolean;
  } | null;
};

/** Request versions that Kafka 2.8 to 4 all support; topic ids came with 2.8. */
const METADATA = { apiKey: 3, version: 10, isCompact: true } as const;
const DESCRIBE_CONFIGS = { apiKey: 32, version: 1, isCompact: false } as const;
const TOPIC_RESOURCE = 2;
const UNKNOWN_TOPIC = 3;
const NO_UUID = Buffer.alloc(16);

/** The addresses in `host:port,host:port`; the default port is 9092. */
export function brokerAddresses(brokers: string): readonly BrokerAddress[] {
  return brokers.split(',').map((text) => {
    const [, host = text.trim(), port = '9092'] =
      /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(text.trim()) ?? [];
    return { host, port: Number(port) };
  });
}

/** Asks the bootstrap brokers in turn until one answers. @throws DependencyError when none does. */
async function askAny(
  brokers: string,
  request: Parameters<typeof askBroker>[1],
): Promise<WireReader> {
  const problems: unknown[] = [];
  for (const broker of brokerAddresses(brokers)) {
    try {
      return await askBroker(broker, request);
    } catch (error) {
      problems.push(error);
    }
  }
  const reasons = problems.map(messageOf).join('; ');
  throw kafkaFailureOf(
    new Error(reasons, { cause: problems[0] }),
    `none of the brokers ${brokers} answers`,
  );
}

/**
 * Asks for the ids of the cluster and the topic, which the driver does not provide.
 * @throws DependencyError when no broker answers in time.
 */
export async function describeTopic(
  brokers: string,
  topic: string,
  timeoutMs: number,
): Promise<TopicDescription> {
  const body = new WireWriter()
    .varint(2)
    .bytes(NO_UUID)
    .compactString(topic)
    .varint(0)
    // Flags: do not create the topic, do not list permissions.
    .int8(0)
    .int8(0)
    .int8(0)
    .varint(0)
    .toBuffer();
  const answer = await askAny(brokers, { ...METADATA, body, timeoutMs });
  try {
    return readMetadata(answer);
  } catch (error) {
    throw kafkaFailureOf(error, 'the broker does not answer like Kafka 2.8 or later');
  }
}

function readMetadata(answer: WireReader): TopicDescription {
  answer.int32();
  const brokers = answer.compactArray(() => {
    answer.int32();
    answer.compactString();
    answer.int32();
    answer.compactString();
    answer.tags();
  });
  const clusterId = answer.compactString() ?? '';
  answer.int32();
  const [topic] = answer.compactArray(() => {
    const error = answer.int16();
    answer.compactString();
    const topicId = answer.bytes(16).toString('base64url');
    answer.int8();
    const partitions = answer.compactArray(() => readPartition(answer));
    answer.int32();
    answer.tags();
    const isReady = error === 0 && partitions.every(({ leader }) => leader >= 0);
    const replicas = Math.min(...partitions.map((partition) => partition.replicas));
    return { error, topicId, partitionCount: partitions.length, replicas, isReady };
  });
  return {
    clusterId,
    brokerCount: brokers.length,
    topic: topic === undefined || topic.error === UNKNOWN_TOPIC ? null : topic,
  };
}

/** The broker that leads a partition, -1 when there is none, and how many replicas it has. */
function readPartition(answer: WireReader): { readonly leader: number; readonly replicas: number } {
  answer.int16();
  answer.int32();
  const leader = answer.int32();
  answer.int32();
  const replicas = answer.compactArray(() => answer.int32()).length;
  // Those in sync and those whose broker is away.
  for (let list = 0; list < 2; list += 1) answer.compactArray(() => answer.int32());
  answer.tags();
  return { leader, replicas };
}

/**
 * The settings of a topic by name, defaults included; null when the broker does not know the topic.
 * @throws DependencyError when no broker answers in time or the broker reports an error.
 */
export async function topicSettings(
  brokers: string,
  topic: string,
  timeoutMs: number,
): Promise<ReadonlyMap<string, string | null> | null> {
  const body = new WireWriter()
    .int32(1)
    .int8(TOPIC_RESOURCE)
    .string(topic)
    // All settings, without synonyms.
    .int32(-1)
    .int8(0)
    .toBuffer();
  const answer = await askAny(brokers, { ...DESCRIBE_CONFIGS, body, timeoutMs });
  answer.int32();
  const [resource] = answer.array(() => {
    const code = answer.int16();
    const message = answer.string();
    answer.int8();
    answer.string();
    return { code, message, settings: answer.array(() => readSetting(answer)) };
  });
  if (resource?.code === KAFKA_ERROR.unknownTopic) return null;
  if (resource === undefined || resource.code !== 0) {
    const refusal = Object.assign(new Error(resource?.message ?? 'no answer'), {
      code: resource?.code ?? -1,
    });
    throw kafkaFailureOf(refusal, `settings of topic ${topic}`);
  }
  return new Map(resource.settings);
}

function readSetting(answer: WireReader): readonly [string, string | null] {
  const name = answer.string() ?? '';
  const value = answer.string();
  // The fields read-only, source and sensitive, then the synonyms.
  for (let field = 0; field < 3; field += 1) answer.int8();
  answer.array(() => {
    answer.string();
    answer.string();
    answer.int8();
  });
  return [name, value];
}
