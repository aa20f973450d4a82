import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigError } from '../../runtime/config.js';
import { DependencyError } from '../../runtime/failure.js';
import type { LogIdentity } from '../interface/event-log.js';
import type { AgreePartitions } from './agree-partitions.js';
import type { BrokerAccess } from './ask-brokers.js';
import { describeTopic, topicSettings, type TopicDescription } from './describe-topic.js';
import { KAFKA_ERROR, kafkaFailureOf } from './kafka-failure.js';
import type { RdKafka } from './rdkafka.js';
import { driverSecurity } from './security.js';
import {
  CHECKED_SETTINGS,
  insyncReplicasWanted,
  MESSAGE_BYTES_WANTED,
  problemsOfTopic,
  replicasWanted,
  warningsOfTopic,
  type FoundTopic,
} from './topic-problems.js';

/** The topic that is the log. */
export type KafkaTopic = BrokerAccess & {
  readonly topic: string;
  /** For creating the topic. For an existing one it must be its number of partitions, or absent. */
  readonly partitionCount?: number | undefined;
  /** How many of the topic's partitions are used; all when absent. */
  readonly agreePartitions?: AgreePartitions;
  /** Replicas that the topic must have; when absent, one on each of up to three brokers. */
  readonly replicas?: number | undefined;
};

/** At most this many aggregators can share the work; partitions cannot be added later. */
const PARTITIONS_DEFAULT = 12;
const ADMIN_TIMEOUT_MS = 10_000;
/** The topic id of a cluster that has no topic ids: 16 zero bytes. */
const NO_TOPIC_ID = 'AAAAAAAAAAAAAAAAAAAAAA';
/** How long to wait for a new topic, of which brokers learn one after another. */
const CREATED_WITHIN_MS = 10_000;
const CREATED_POLL_MS = 50;
/** Long enough for an aggregator that is down over a weekend. */
const RETENTION_MS = 7 * 24 * 3_600_000;

async function createTopic(rdkafka: RdKafka, at: KafkaTopic, brokerCount: number): Promise<void> {
  const { brokers, topic, partitionCount = PARTITIONS_DEFAULT } = at;
  const replicas = replicasWanted(at, brokerCount);
  const request = {
    topic,
    num_partitions: partitionCount,
    replication_factor: replicas,
    config: {
      'cleanup.policy': 'delete',
      'message.timestamp.type': 'LogAppendTime',
      'min.insync.replicas': String(insyncReplicasWanted(replicas)),
      'max.message.bytes': String(MESSAGE_BYTES_WANTED),
      'retention.ms': String(RETENTION_MS),
      'unclean.leader.election.enable': 'false',
    },
  };
  const security = driverSecurity(at.security, rdkafka.features);
  const admin = rdkafka.AdminClient.create({ ...security, 'metadata.broker.list': brokers });
  try {
    await new Promise<void>((resolve, reject) => {
      admin.createTopic(request, ADMIN_TIMEOUT_MS, (error) => {
        // Another process may have created it first; that topic is checked like any other.
        if (!error || error.code === KAFKA_ERROR.topicExists) resolve();
        else reject(kafkaFailureOf(error, `topic ${topic} could not be created`));
      });
    });
  } finally {
    admin.disconnect();
  }
}

/** Asks until brokers know the topic: they learn of a new one after the broker that made it. */
async function askUntilKnown<T>(at: KafkaTopic, ask: () => Promise<T | null>): Promise<T> {
  const deadlineMs = performance.now() + CREATED_WITHIN_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    if (performance.now() > deadlineMs) {
      throw new DependencyError(
        `event log in Kafka: topic ${at.topic} was created but is not ready`,
        {
          dependency: 'event-log',
          isRetryable: true,
        },
      );
    }
    await sleep(CREATED_POLL_MS);
  }
}

function describeCreated(at: KafkaTopic): Promise<TopicDescription> {
  return askUntilKnown(at, async () => {
    const description = await describeTopic(at, ADMIN_TIMEOUT_MS);
    return description.topic?.isReady === true ? description : null;
  });
}

/** The topic with its settings. */
async function findTopic(
  at: KafkaTopic,
  partitionCount: number,
  { brokerCount, topic }: TopicDescription,
): Promise<FoundTopic> {
  const settings = await askUntilKnown(at, () =>
    topicSettings(at, CHECKED_SETTINGS, ADMIN_TIMEOUT_MS),
  );
  return { brokerCount, partitionCount, replicas: topic?.replicas ?? 0, settings };
}

/** The log id of a topic: the ids of cluster and topic, in the alphabet of log ids. */
function kafkaLogId(clusterId: string, topicId: string): string {
  const cluster = clusterId.replaceAll(/[^A-Za-z0-9_-]/g, '').slice(0, 36);
  return `k-${cluster}-${topicId}`;
}

/**
 * Checks that the topic is still the log that was opened.
 * @throws DependencyError, which no retry overcomes, when it was deleted or made anew.
 */
export function assertSameLog(expected: string, found: TopicDescription): void {
  const logId = kafkaLogId(found.clusterId, found.topic?.topicId ?? 'none');
  if (logId === expected) return;
  throw new DependencyError(
    `event log in Kafka: its id changed from ${expected} to ${logId}: restart the program`,
    { dependency: 'event-log', isRetryable: false },
  );
}

/**
 * Creates the topic when it is missing, and checks it.
 * @throws ConfigError when the topic cannot serve as the log; the message says what to change.
 * @throws DependencyError when Kafka cannot be reached.
 */
export async function openKafkaTopic(rdkafka: RdKafka, at: KafkaTopic): Promise<LogIdentity> {
  let description = await describeTopic(at, ADMIN_TIMEOUT_MS);
  if (description.topic === null) {
    await createTopic(rdkafka, at, description.brokerCount);
    description = await describeCreated(at);
  }
  const { topicId = '', partitionCount: count = 0 } = description.topic ?? {};
  const logId = kafkaLogId(description.clusterId, topicId);
  const partitionCount = (await at.agreePartitions?.(logId, count)) ?? count;
  const found = await findTopic(at, partitionCount, description);
  const problems = [...problemsOfTopic(at, found)];
  if (topicId === NO_TOPIC_ID) problems.push(`topic ${at.topic} has no id: use Kafka 2.8 or later`);
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    logId,
    partitionCount,
    unusedPartitions: Math.max(0, count - partitionCount),
    warnings: warningsOfTopic(at, found),
  };
}
