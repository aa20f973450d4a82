import { askBrokers, type BrokerAccess } from './ask-brokers.js';
import { KAFKA_ERROR, kafkaRefusalOf } from './kafka-failure.js';

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

type TopicAccess = BrokerAccess & { readonly topic: string };

/** The id of a topic as it stands in log ids, which is how the tools of Kafka print it. */
export function topicIdOf(uuid: string): string {
  return Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url');
}

/**
 * Asks for the ids of the cluster and the topic, which the driver does not provide. The version of
 * the request is one that Kafka 2.8 to 4 all support; topic ids came with 2.8.
 * @throws DependencyError when no broker answers in time or the topic cannot be described.
 */
export async function describeTopic(at: TopicAccess, timeoutMs: number): Promise<TopicDescription> {
  const answer = await askBrokers(at, timeoutMs, (connection, { metadataV10: { api } }) =>
    api.async(connection, [at.topic], false, false),
  );
  const cluster = { clusterId: answer.clusterId ?? '', brokerCount: answer.brokers.length };
  const [topic] = answer.topics;
  const error = topic?.errorCode ?? KAFKA_ERROR.unknownTopic;
  if (topic === undefined || error === KAFKA_ERROR.unknownTopic) return { ...cluster, topic: null };
  if (error !== 0 && error !== KAFKA_ERROR.noLeader)
    throw kafkaRefusalOf(error, `topic ${at.topic}`);
  const { partitions } = topic;
  return {
    ...cluster,
    topic: {
      topicId: topicIdOf(topic.topicId),
      partitionCount: partitions.length,
      replicas: Math.min(...partitions.map(({ replicaNodes }) => replicaNodes.length)),
      isReady: error === 0 && partitions.every(({ leaderId }) => leaderId >= 0),
    },
  };
}

/**
 * The named settings of a topic, defaults included; null when the broker does not know the topic.
 * @throws DependencyError when no broker answers in time or the broker reports an error.
 */
export async function topicSettings(
  at: TopicAccess,
  names: readonly string[],
  timeoutMs: number,
): Promise<ReadonlyMap<string, string | null> | null> {
  const answer = await askBrokers(at, timeoutMs, (connection, client) => {
    const resourceType = client.ConfigResourceTypes.TOPIC;
    const resource = { resourceType, resourceName: at.topic, configurationKeys: [...names] };
    return client.describeConfigsV4.api.async(connection, [resource], false, false);
  });
  const [result] = answer.results;
  const code = result?.errorCode ?? -1;
  if (code === KAFKA_ERROR.unknownTopic) return null;
  if (result === undefined || code !== 0) {
    throw kafkaRefusalOf(code, `settings of topic ${at.topic}`, result?.errorMessage ?? undefined);
  }
  return new Map(result.configs.map(({ name, value }) => [name, value ?? null]));
}
