import { groupBy } from '../../runtime/group-by.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { AGGREGATOR_GROUP } from '../../contract/topics.js';
import {
  OffsetOutOfRange,
  type EventLogReader,
  type LogBounds,
  type LogIdentity,
  type LogRecord,
  type LogRemoval,
  type ReadRequest,
} from '../interface/event-log.js';
import { logOutage } from '../interface/group-commit.js';
import { describeTopic, topicSettings } from './describe-topic.js';
import { KAFKA_ERROR, kafkaFailureOf } from './kafka-failure.js';
import { fetchedBytesOf, PartitionFeed } from './feed.js';
import { ConsumerPump } from './pump.js';
import {
  loadRdKafka,
  type RdKafkaConsumer,
  type RdKafkaError,
  type RdKafkaMessage,
} from './rdkafka.js';
import { driverSecurity } from './security.js';
import { CONSUMER_TOPIC_SETTINGS, consumerSettings } from './settings.js';
import { assertSameLog, openKafkaTopic, type KafkaTopic } from './topic.js';

const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 3_000;
const SETTINGS_TIMEOUT_MS = 10_000;
const LEADER_WITHIN_MS = 3_000;
const LEADER_POLL_MS = 50;
const WITHOUT_LEADER: ReadonlySet<number> = new Set([KAFKA_ERROR.noLeader, KAFKA_ERROR.notLeader]);
const REMOVAL_SETTINGS = ['retention.ms', 'retention.bytes'] as const;
/** How often a partition without new records is compared with the broker; sooner after errors. */
const CHECK_INTERVAL_MS = 5_000;

type AskedBounds = {
  readonly consumer: Pick<RdKafkaConsumer, 'queryWatermarkOffsets'>;
  readonly topic: string;
  readonly partition: number;
  /** How long the partition may be without a leader. */
  readonly leaderWithinMs?: number;
};

function askBounds({ consumer, topic, partition }: AskedBounds): Promise<LogBounds | RdKafkaError> {
  return new Promise((resolve) => {
    consumer.queryWatermarkOffsets(topic, partition, QUERY_TIMEOUT_MS, (error, marks) => {
      if (error) resolve(error);
      else resolve({ startOffset: marks.lowOffset, endOffset: marks.highOffset });
    });
  });
}

/**
 * The first and the next offset of a partition. Right after its topic was made, or when its leader
 * has moved, a partition may be without a leader for a moment; then it is asked again.
 * @throws DependencyError.
 */
export async function partitionBounds(asked: AskedBounds): Promise<LogBounds> {
  const deadlineMs = performance.now() + (asked.leaderWithinMs ?? LEADER_WITHIN_MS);
  for (;;) {
    const answer = await askBounds(asked);
    if ('startOffset' in answer) return answer;
    if (!WITHOUT_LEADER.has(answer.code) || performance.now() > deadlineMs) {
      throw kafkaFailureOf(answer, `offsets of partition ${asked.partition}`);
    }
    await sleep(LEADER_POLL_MS);
  }
}

/** Asks for the end of a partition in place of an offset by time. */
const LATEST = -1;

type AskedEnds = {
  readonly consumer: Pick<RdKafkaConsumer, 'offsetsForTimes'>;
  readonly topic: string;
  readonly partitionCount: number;
};

/**
 * The ends of all partitions, by one question to each broker.
 * @throws DependencyError, also when a single partition has no leader for a moment.
 */
export function partitionEnds({ consumer, topic, partitionCount }: AskedEnds) {
  const asked = Array.from({ length: partitionCount }, (_, partition) => ({
    topic,
    partition,
    offset: LATEST,
  }));
  return new Promise<readonly number[]>((resolve, reject) => {
    consumer.offsetsForTimes(asked, QUERY_TIMEOUT_MS, (error, answer) => {
      if (error) {
        reject(kafkaFailureOf(error, 'the ends of the partitions'));
        return;
      }
      const offsets = new Map(answer.map(({ partition, offset }) => [partition, offset]));
      const ends = asked.map(({ partition }) => offsets.get(partition) ?? LATEST);
      if (ends.every((end) => end >= 0)) resolve(ends);
      else reject(logOutage('no end of some partitions is known'));
    });
  });
}

class KafkaLogReader implements EventLogReader {
  readonly #feeds = new Map<number, PartitionFeed>();
  readonly #pump: ConsumerPump;
  /** Whether the driver has reported an error since the last successful check. */
  #isSuspicious = false;
  #identityCheckedAtMs = performance.now();
  #closing: Promise<void> | null = null;
  readonly #fetchedBytesMax: number;

  constructor(
    readonly identity: LogIdentity,
    private readonly consumer: RdKafkaConsumer,
    private readonly at: KafkaTopic,
  ) {
    // Of all partitions, not of those that are read so far: the first would take the share of all.
    this.#fetchedBytesMax = fetchedBytesOf(identity.partitionCount);
    this.#pump = new ConsumerPump(consumer, {
      onMessages: (messages) => {
        this.#deliver(messages);
      },
      onError: () => {
        this.#isSuspicious = true;
      },
      isWanted: () => [...this.#feeds.values()].some((feed) => !feed.isPaused),
    });
    consumer.on('event.error', () => {
      this.#isSuspicious = true;
    });
  }

  async read(request: ReadRequest): Promise<readonly LogRecord[]> {
    const { partition, fromOffset, waitMs, signal } = request;
    const feed = await this.#feedAt(partition, fromOffset);
    await feed.wait(waitMs, signal);
    const records = feed.take(request);
    if (feed.shouldResume(this.#fetchedBytesMax)) await this.#resume(partition, feed);
    if (records.length === 0) await this.#check(partition, feed);
    return records;
  }

  bounds(partition: number): Promise<LogBounds> {
    return partitionBounds({ consumer: this.consumer, topic: this.at.topic, partition });
  }

  readonly ends = (): Promise<readonly number[]> =>
    partitionEnds({
      consumer: this.consumer,
      topic: this.at.topic,
      partitionCount: this.identity.partitionCount,
    });

  commit(partition: number, nextOffset: number): Promise<void> {
    try {
      this.consumer.commit({ topic: this.at.topic, partition, offset: nextOffset });
      return Promise.resolve();
    } catch (error) {
      return Promise.reject(kafkaFailureOf(error, 'the offset could not be committed'));
    }
  }

  async release(partition: number): Promise<void> {
    const feed = this.#feeds.get(partition);
    if (feed === undefined) return;
    await this.#pump.run(() => {
      this.#unassign(partition);
    });
    feed.wake();
  }

  /** A property and not a method, since the PostgreSQL log has none. */
  readonly removal = async (): Promise<LogRemoval> => {
    const settings = await topicSettings(this.at, REMOVAL_SETTINGS, SETTINGS_TIMEOUT_MS);
    const limitOf = (name: (typeof REMOVAL_SETTINGS)[number]): number | null => {
      const limit = Number(settings?.get(name) ?? -1);
      // -1 stands for no limit.
      return limit < 0 ? null : limit;
    };
    return { afterMs: limitOf('retention.ms'), isByBytes: limitOf('retention.bytes') !== null };
  };

  ping(): Promise<void> {
    return new Promise((resolve, reject) => {
      const options = { topic: this.at.topic, timeout: QUERY_TIMEOUT_MS };
      this.consumer.getMetadata(options, (error) => {
        if (error) reject(kafkaFailureOf(error, 'no broker answers'));
        else resolve();
      });
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#pump.close();
    for (const feed of this.#feeds.values()) feed.wake();
    await new Promise<void>((resolve) => {
      this.consumer.disconnect(resolve);
    });
  }

  #deliver(messages: readonly RdKafkaMessage[]): void {
    for (const [partition, list] of groupBy(messages, (message) => message.partition)) {
      const feed = this.#feeds.get(partition);
      feed?.add(list);
      if (feed?.shouldPause(this.#fetchedBytesMax) === true) this.#pause(partition, feed);
    }
  }

  /** The feed of the partition at the offset. A new offset is compared with the log first. */
  async #feedAt(partition: number, offset: number): Promise<PartitionFeed> {
    const known = this.#feeds.get(partition);
    if (known?.readOffset === offset) return known;
    assertInside(partition, offset, await this.bounds(partition));
    return this.#assign(partition, offset);
  }

  #assign(partition: number, offset: number): Promise<PartitionFeed> {
    return this.#pump.run(() => {
      this.#unassign(partition);
      this.consumer.incrementalAssign([{ topic: this.at.topic, partition, offset }]);
      const feed = new PartitionFeed(offset);
      this.#feeds.set(partition, feed);
      return feed;
    });
  }

  #unassign(partition: number): void {
    const feed = this.#feeds.get(partition);
    if (feed === undefined) return;
    this.#feeds.delete(partition);
    const at = [{ topic: this.at.topic, partition }];
    // The driver would keep the pause, and never fetch for the next assignment.
    if (feed.isPaused) this.consumer.resume(at);
    this.consumer.incrementalUnassign(at);
  }

  /** Runs while records are handed over, so between two calls of the consumer. */
  #pause(partition: number, feed: PartitionFeed): void {
    feed.isPaused = true;
    this.consumer.pause([{ topic: this.at.topic, partition }]);
  }

  #resume(partition: number, feed: PartitionFeed): Promise<void> {
    return this.#pump.run(() => {
      if (this.#feeds.get(partition) !== feed || !feed.isPaused) return;
      feed.isPaused = false;
      this.consumer.resume([{ topic: this.at.topic, partition }]);
    });
  }

  /**
   * Finds out why no records came: there are none, the brokers are away, retention has removed the
   * position, or the topic was created anew. The driver reports these in errors without a partition
   * or not at all, so the log itself is asked from time to time.
   */
  async #check(partition: number, feed: PartitionFeed): Promise<void> {
    const isDue = performance.now() - feed.checkedAtMs > CHECK_INTERVAL_MS;
    if (!this.#isSuspicious && !isDue) return;
    const bounds = await this.bounds(partition);
    assertInside(partition, feed.readOffset, bounds);
    await this.#checkIdentity();
    this.#isSuspicious = false;
    feed.checkedAtMs = performance.now();
    // There are records, but they did not come: fetching has stopped and must be started again.
    const isStuck = isDue && feed.readOffset < bounds.endOffset && !feed.isPaused;
    if (isStuck && this.#feeds.get(partition) === feed) {
      await this.#assign(partition, feed.readOffset);
    }
  }

  async #checkIdentity(): Promise<void> {
    const nowMs = performance.now();
    if (!this.#isSuspicious && nowMs - this.#identityCheckedAtMs < CHECK_INTERVAL_MS) return;
    assertSameLog(this.identity.logId, await describeTopic(this.at, QUERY_TIMEOUT_MS));
    this.#identityCheckedAtMs = nowMs;
  }
}

function assertInside(partition: number, offset: number, bounds: LogBounds): void {
  if (offset < bounds.startOffset || offset > bounds.endOffset) {
    throw new OffsetOutOfRange(partition, offset, bounds);
  }
}

/**
 * Opens the log in Kafka for reading, and creates its topic when there is none.
 * @throws ConfigError when the driver is missing or the topic cannot serve as the log.
 * @throws DependencyError when Kafka cannot be reached.
 */
export async function openKafkaReader(options: KafkaTopic): Promise<EventLogReader> {
  const rdkafka = await loadRdKafka();
  const security = driverSecurity(options.security, rdkafka.features);
  const identity = await openKafkaTopic(rdkafka, options);
  const consumer = new rdkafka.KafkaConsumer(
    consumerSettings({ brokers: options.brokers, security }, AGGREGATOR_GROUP),
    CONSUMER_TOPIC_SETTINGS,
  );
  await new Promise<void>((resolve, reject) => {
    consumer.connect({ timeout: CONNECT_TIMEOUT_MS }, (error) => {
      if (error) reject(kafkaFailureOf(error, 'the consumer could not connect'));
      else resolve();
    });
  });
  return new KafkaLogReader(identity, consumer, options);
}
