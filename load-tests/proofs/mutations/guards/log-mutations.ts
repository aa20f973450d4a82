import { guardMutation, type GuardMutation } from './guard-mutation.js';

const AGREE_TEST = 'event-log/kafka/agree-partitions.db.test.ts';
const TOPIC = 'event-log/kafka/topic-problems.ts';
const TOPIC_TEST = 'event-log/kafka/topic-problems.test.ts';
const PRODUCER = 'event-log/kafka/producer.ts';
const PRODUCER_TEST = 'event-log/kafka/producer.test.ts';
const FEED = 'event-log/kafka/feed.ts';

/** The topic, and who reads it. */
const TOPICS: readonly GuardMutation[] = [
  guardMutation('the number of partitions follows the topic', AGREE_TEST, [
    'event-log/kafka/topic.ts',
    '(await at.agreePartitions?.(logId, count)) ?? count',
    'count',
  ]),
  guardMutation('the agreed number of partitions grows with the topic', AGREE_TEST, [
    'event-log/kafka/agree-partitions.ts',
    "return assertPresent(row, 'the agreed number of partitions').partition_count;",
    'return Math.max(found, row?.partition_count ?? 0);',
  ]),
  guardMutation('a topic with too few replicas serves as the log', TOPIC_TEST, [
    TOPIC,
    'replicas >= replicasWanted(at, brokerCount)',
    'replicas >= 1',
  ]),
  guardMutation('one replica in sync is enough to acknowledge', TOPIC_TEST, [
    TOPIC,
    'insync >= insyncWanted',
    'insync >= 1',
  ]),
  guardMutation('a topic may elect a leader that lacks records', TOPIC_TEST, [
    TOPIC,
    "    ['unclean.leader.election.enable', 'false'],\n",
    '',
  ]),
  guardMutation(
    'records that the driver gives again after a pause are read twice',
    'event-log/kafka/feed.test.ts',
    [FEED, 'messages.filter(({ offset }) => offset >= this.fetchOffset)', '[...messages]'],
  ),
  guardMutation('fetching is never paused', 'event-log/kafka/feed.test.ts', [
    FEED,
    'return !this.isPaused && this.#bufferedBytes > bytesMax;',
    'return false;',
  ]),
  guardMutation(
    'a partition that was paused stays so when it is read from another offset',
    'event-log/kafka/kafka-log.db.test.ts',
    ['event-log/kafka/reader.ts', 'if (feed.isPaused) this.consumer.resume(at);', ''],
  ),
];

/** The rules of D-021. */
const PRODUCERS: readonly GuardMutation[] = [
  guardMutation('a delivery under way is left open when the producer is closed', PRODUCER_TEST, [
    PRODUCER,
    'for (const batch of [...this.#open.values()]) batch.settle(closedFailure());',
    '',
  ]),
  guardMutation('a batch that is given up leaves its numbers to the next one', PRODUCER_TEST, [
    PRODUCER,
    `    this.#forget(batch);
    batch.settle(failure);`,
    '    batch.settle(failure);',
  ]),
  guardMutation('a batch of unknown outcome is sent again under other numbers', PRODUCER_TEST, [
    PRODUCER,
    'if (failure.isRetryable) this.#retryLater(batch, failure);\n    else this.#giveUp',
    'if (failure.isRetryable) (this.#forget(batch), this.#retryLater(batch, failure));\n    else this.#giveUp',
  ]),
  guardMutation('an acknowledged offset that does not rise is believed', PRODUCER_TEST, [
    PRODUCER,
    'baseOffset <= (this.#storedAt.get(partition) ?? -1)',
    'baseOffset < 0',
  ]),
  guardMutation(
    'an answer to a batch that was given up is taken for one to its successor',
    PRODUCER_TEST,
    [
      PRODUCER,
      'return this.#open.get(batch.partition) === batch;',
      'return this.#open.has(batch.partition);',
    ],
  ),
];

/** Guards of the log in Kafka. */
export const LOG_MUTATIONS: readonly GuardMutation[] = [...TOPICS, ...PRODUCERS];
