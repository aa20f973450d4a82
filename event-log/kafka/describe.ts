import { messageOf } from '../../runtime/failure.js';
import { kafkaFailureOf } from './failure.js';
import { askBroker, WireWriter, type BrokerAddress, type WireReader } from './wire.js';

/** What the cluster says about itself and one topic. */
export type TopicDescription = {
  readonly clusterId: string;
  readonly brokerCount: number;
  /** Null when there is no such topic. */
  readonly topic: {
    /** 16 bytes that a topic of the same name created later does not share, as base64url. */
    readonly topicId: string;
    readonly partitionCount: number;
    /** Whether every partition has a leader, which a new topic lacks for a moment. */
    readonly isReady: boolean;
  } | null;
};

/** Versions that Kafka 2.8 to 4 have in common; topic ids came with 2.8. */
const METADATA = { apiKey: 3, version: 10, isCompact: true } as const;
const DESCRIBE_CONFIGS = { apiKey: 32, version: 1, isCompact: false } as const;
const TOPIC_RESOURCE = 2;
const UNKNOWN_TOPIC = 3;
const NO_UUID = Buffer.alloc(16);

/** `host:port,host:port` as addresses; the port is 9092 when none is given. */
export function brokerAddresses(brokers: string): readonly BrokerAddress[] {
  return brokers.split(',').map((text) => {
    const [, host = text.trim(), port = '9092'] =
      /^\[?([^\]]*?)\]?(?::(\d+))?$/.exec(text.trim()) ?? [];
    return { host, port: Number(port) };
  });
}

/** The first answer of any bootstrap broker. @throws DependencyError when none answers. */
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
  throw kafkaFailureOf(new Error(reasons, { cause: problems[0] }), `no broker of ${brokers}`);
}

/**
 * Asks for the cluster's id and the topic's id, which the driver does not tell.
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
    // Neither create the topic nor list permissions.
    .int8(0)
    .int8(0)
    .int8(0)
    .varint(0)
    .toBuffer();
  const answer = await askAny(brokers, { ...METADATA, body, timeoutMs });
  try {
    return readMetadata(answer);
  } catch (error) {
    throw kafkaFailureOf(error, 'the broker did not describe the topic as Kafka 2.8 or later does');
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
    const leaders = answer.compactArray(() => readLeader(answer));
    answer.int32();
    answer.tags();
    const isReady = error === 0 && leaders.every((leader) => leader >= 0);
    return { error, topicId, partitionCount: leaders.length, isReady };
  });
  return {
    clusterId,
    brokerCount: brokers.length,
    topic: topic === undefined || topic.error === UNKNOWN_TOPIC ? null : topic,
  };
}

/** The broker that leads a partition, -1 when none does; error, number and replicas are skipped. */
function readLeader(answer: WireReader): number {
  answer.int16();
  answer.int32();
  const leader = answer.int32();
  answer.int32();
  for (let list = 0; list < 3; list += 1) answer.compactArray(() => answer.int32());
  answer.tags();
  return leader;
}

/**
 * The settings of a topic by name, defaults included.
 * @throws DependencyError when no broker answers in time or it refuses.
 */
export async function topicSettings(
  brokers: string,
  topic: string,
  timeoutMs: number,
): Promise<ReadonlyMap<string, string | null>> {
  const body = new WireWriter()
    .int32(1)
    .int8(TOPIC_RESOURCE)
    .string(topic)
    // All settings, without their synonyms.
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
  // Read-only, source, sensitive.
  for (let field = 0; field < 3; field += 1) answer.int8();
  answer.array(() => {
    answer.string();
    answer.string();
    answer.int8();
  });
  return [name, value];
}
