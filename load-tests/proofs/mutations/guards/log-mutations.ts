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

/** What the driver's producer does not do by itself. */
const PRODUCERS: readonly GuardMutation[] = [
  guardMutation('a delivery under way is left open when the producer is closed', PRODUCER_TEST, [
    PRODUCER,
    'this.#fail([...this.#open], closedFailure());',
    '',
  ]),
  guardMutation('a report that never comes leaves its delivery open', PRODUCER_TEST, [
    PRODUCER,
    'deadlineMs <= nowMs',
    'deadlineMs <= 0',
  ]),
  guardMutation('an acknowledged offset that does not rise is believed', PRODUCER_TEST, [
    PRODUCER,
    'offset <= (this.#storedAt.get(delivery.partition) ?? -1)',
    'offset === Infinity',
  ]),
  guardMutation('records are written to a topic that may be another log', PRODUCER_TEST, [
    PRODUCER,
    'if (this.#isDoubted) await this.#check();',
    'if (this.#isClosed) await this.#check();',
  ]),
  guardMutation('whether the topic is the log is asked once only', PRODUCER_TEST, [
    PRODUCER,
    'performance.now() - this.#checkedAtMs > CHECK_INTERVAL_MS',
    'this.#checkedAtMs < 0',
  ]),
  guardMutation('a producer that has failed for good is kept', PRODUCER_TEST, [
    PRODUCER,
    'if (this.#isReopening || this.#isClosed) return;',
    'return;',
  ]),
  guardMutation('a record counts as acknowledged when its leader alone has it', PRODUCER_TEST, [
    'event-log/kafka/settings.ts',
    "acks: 'all',",
    "acks: '1',",
  ]),
  guardMutation('a retry of the driver may store a record twice or out of order', PRODUCER_TEST, [
    'event-log/kafka/settings.ts',
    "'enable.idempotence': true,",
    "'enable.idempotence': false,",
  ]),
];

/** Guards of the log in Kafka. */
export const LOG_MUTATIONS: readonly GuardMutation[] = [...TOPICS, ...PRODUCERS];
