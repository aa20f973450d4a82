import { RECORD_BYTES_MAX } from '../interface/event-log.js';
import type { KafkaTopic } from './topic.js';

/** Three replicas survive the loss of one broker while another one is being replaced. */
const REPLICAS_MAX = 3;

/** Space for the key and the headers of record and batch, beside the largest value. */
const RECORD_OVERHEAD_BYTES = 64 * 1024;

/** `max.message.bytes` of the topic: room for the largest record. */
export const MESSAGE_BYTES_WANTED = RECORD_BYTES_MAX + RECORD_OVERHEAD_BYTES;

/** Settings of an existing topic that are checked. */
export const CHECKED_SETTINGS = [
  'message.timestamp.type',
  'cleanup.policy',
  'unclean.leader.election.enable',
  'min.insync.replicas',
  'max.message.bytes',
] as const;

/** An existing topic, as the brokers describe it. */
export type FoundTopic = {
  /** Brokers that are up now. */
  readonly brokerCount: number;
  readonly partitionCount: number;
  /** Replicas of the partition that has the fewest. */
  readonly replicas: number;
  /** The checked settings of the topic, defaults of the brokers included. */
  readonly settings: ReadonlyMap<string, string | null>;
};

/** Replicas that the topic must have: as configured, else one on each of up to three brokers. */
export function replicasWanted(
  { replicas }: Pick<KafkaTopic, 'replicas'>,
  brokerCount: number,
): number {
  return replicas ?? Math.min(REPLICAS_MAX, brokerCount);
}

/** With three replicas an acknowledged record is on at least two, and one broker may be away. */
export function insyncReplicasWanted(replicas: number): number {
  return Math.max(1, replicas - 1);
}

/** The command that changes a setting of the topic. */
function alter({ brokers, topic }: KafkaTopic, setting: string): string {
  return `run "kafka-configs.sh --bootstrap-server ${brokers} --alter --entity-type topics --entity-name ${topic} --add-config ${setting}"`;
}

function settingProblems(at: KafkaTopic, { settings }: FoundTopic): string[] {
  // With other values a record could change its time, vanish, or be acknowledged and then lost.
  const wanted = [
    ['message.timestamp.type', 'LogAppendTime'],
    ['cleanup.policy', 'delete'],
    ['unclean.leader.election.enable', 'false'],
  ] as const;
  return wanted.flatMap(([name, value]) => {
    const found = settings.get(name) ?? 'unknown';
    if (found === value) return [];
    const remedy = alter(at, `${name}=${value}`);
    return [`topic ${at.topic} has ${name}=${found}; alter it to ${value}: ${remedy}`];
  });
}

/** A smaller limit would refuse some requests of legal events for ever. */
function messageSizeProblems(at: KafkaTopic, { settings }: FoundTopic): string[] {
  const found = settings.get('max.message.bytes') ?? 'unknown';
  if (Number(found) >= MESSAGE_BYTES_WANTED) return [];
  const remedy = alter(at, `max.message.bytes=${MESSAGE_BYTES_WANTED}`);
  return [
    `topic ${at.topic} has max.message.bytes=${found}, which is less than one record may have; alter it to ${MESSAGE_BYTES_WANTED}: ${remedy}`,
  ];
}

/** The sentence for a topic with fewer replicas than it should have; null when it has enough. */
function tooFewReplicas(at: KafkaTopic, { brokerCount, replicas }: FoundTopic): string | null {
  const { topic, brokers } = at;
  if (replicas >= replicasWanted(at, brokerCount)) return null;
  const reason =
    at.replicas === undefined
      ? `there are ${brokerCount} brokers`
      : `MINUTEBOOK_LOG_REPLICAS is ${at.replicas}`;
  return `topic ${topic} has ${replicas} replicas, but ${reason}: add replicas with "kafka-reassign-partitions.sh --bootstrap-server ${brokers} --execute --reassignment-json-file FILE" (docs/operations.md 3 has the file), or set MINUTEBOOK_LOG_REPLICAS=${replicas} to do with fewer copies`;
}

/** Whether the topic keeps two copies at least, and only a broker that joined wants a third. */
function isOnlyBrokerJoined(at: KafkaTopic, { replicas }: FoundTopic): boolean {
  return at.replicas === undefined && replicas > 1;
}

/** Whether an acknowledged record is on as many brokers as it should be. */
function replicaProblems(at: KafkaTopic, found: FoundTopic): string[] {
  const { topic } = at;
  const problems: string[] = [];
  const tooFew = tooFewReplicas(at, found);
  const isTolerated = isOnlyBrokerJoined(at, found);
  if (tooFew !== null && !isTolerated) problems.push(tooFew);
  const wanted = isTolerated ? found.replicas : replicasWanted(at, found.brokerCount);
  const text = found.settings.get('min.insync.replicas') ?? 'unknown';
  const insync = Number(text);
  const insyncWanted = insyncReplicasWanted(wanted);
  if (!(insync >= insyncWanted)) {
    problems.push(
      `topic ${topic} has min.insync.replicas=${text}, so an acknowledged record may be on too few brokers; alter it to ${insyncWanted}: ${alter(at, `min.insync.replicas=${insyncWanted}`)}`,
    );
  } else if (insync > found.replicas) {
    const most = insyncReplicasWanted(found.replicas);
    problems.push(
      `topic ${topic} has min.insync.replicas=${text}, but ${found.replicas} replicas, so it takes no record; alter it to ${most}: ${alter(at, `min.insync.replicas=${most}`)}`,
    );
  }
  return problems;
}

/** What is wrong with an existing topic as the log, each with what to do. */
export function problemsOfTopic(at: KafkaTopic, found: FoundTopic): readonly string[] {
  const problems = [
    ...settingProblems(at, found),
    ...messageSizeProblems(at, found),
    ...replicaProblems(at, found),
  ];
  const { partitionCount } = found;
  if (at.partitionCount !== undefined && at.partitionCount !== partitionCount) {
    problems.push(
      `MINUTEBOOK_LOG_PARTITIONS is ${at.partitionCount}, but topic ${at.topic} has ${partitionCount} partitions, and their number cannot change: remove the setting`,
    );
  }
  return problems;
}

/** What should be changed about a topic that serves as the log as it is. */
export function warningsOfTopic(at: KafkaTopic, found: FoundTopic): readonly string[] {
  const tooFew = tooFewReplicas(at, found);
  return tooFew !== null && isOnlyBrokerJoined(at, found) ? [tooFew] : [];
}
