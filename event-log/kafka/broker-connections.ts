import type * as kafkaClient from '@platformatic/kafka';
import { DependencyError } from '../../runtime/failure.js';
import {
  answerOf,
  brokerAddresses,
  CLIENT_ID,
  endConnection,
  type BrokerAccess,
} from './ask-brokers.js';
import { connectionProblem } from './connection-problem.js';
import { describeTopic } from './describe-topic.js';
import { KAFKA_ERROR, kafkaRefusalOf } from './kafka-failure.js';
import type {
  Leader,
  NumberedRecords,
  ProduceAnswer,
  ProduceCluster,
  ProducerId,
} from './produce-cluster.js';
import { clientSecurity } from './security.js';
import { assertSameLog } from './topic.js';

export type BrokerConnectionsOptions = BrokerAccess & {
  readonly topic: string;
  readonly logId: string;
  /** How long one append may take. */
  readonly produceTimeoutMs: number;
};

const CONNECT_TIMEOUT_MS = 2_000;
const ASK_TIMEOUT_MS = 2_000;
/** Behind some networks an idle connection ends without a word. */
const KEEP_ALIVE_MS = 30_000;
/**
 * A broker answers within this part of the time of an append, whether all replicas have the records
 * or not, so that one that is late leaves time to send them again.
 */
const ANSWERS_PER_APPEND = 4;
/** The answer may be on its way this much longer. */
const ANSWER_SLACK_MS = 1_000;
/** All in-sync replicas. */
const ALL = -1;
/** A producer without transactions asks for a new id by giving none. */
const NO_PRODUCER: ProducerId = { producerId: -1n, producerEpoch: -1 };

type Client = typeof kafkaClient;
type Open = {
  readonly connection: kafkaClient.Connection;
  readonly ready: Promise<kafkaClient.Connection>;
};

/** The brokers of the topic, each over one connection that stays open. */
export class BrokerConnections implements ProduceCluster {
  readonly #open = new Map<Leader, Open>();
  readonly #answerMs: number;
  /** Brokers that led a partition when last asked: they tell the next leaders, too. */
  #known: readonly Leader[] = [];
  #isClosed = false;

  constructor(
    private readonly client: Client,
    private readonly options: BrokerConnectionsOptions,
  ) {
    this.#answerMs = Math.ceil(options.produceTimeoutMs / ANSWERS_PER_APPEND);
  }

  async leaders(): Promise<readonly (Leader | null)[]> {
    const { topic: name, logId } = this.options;
    const brokers = [...new Set([...this.options.brokers.split(','), ...this.#known])].join(',');
    const description = await describeTopic({ ...this.options, brokers }, ASK_TIMEOUT_MS);
    if (description.topic === null) throw missingTopic(name);
    // What is appended to another topic than the log would never be read.
    assertSameLog(logId, description);
    const { leaders } = description.topic;
    this.#known = [...new Set(leaders.filter((leader) => leader !== null))];
    return leaders;
  }

  async newProducerId(at: Leader): Promise<ProducerId> {
    const connection = await this.#connect(at);
    const { producerId, producerEpoch } = NO_PRODUCER;
    const { api } = this.client.initProducerIdV4;
    const asked = api.async(connection, null, this.#answerMs, producerId, producerEpoch);
    const { errorCode, ...given } = await answerOf(asked, this.client);
    if (errorCode === 0) return given;
    throw kafkaRefusalOf(errorCode, 'no producer id was given');
  }

  async produce(
    at: Leader,
    producer: ProducerId,
    batches: readonly NumberedRecords[],
  ): Promise<ReadonlyMap<number, ProduceAnswer>> {
    const connection = await this.#connect(at);
    const { topic } = this.options;
    const sequences = new this.client.NumericMap(
      batches.map(({ partition, sequence }) => [`${topic}:${partition}`, sequence]),
    );
    const messages = batches.flatMap(({ partition, records }) =>
      records.map(({ key, value }) => ({
        ...{ topic, partition },
        ...{ key: Buffer.from(key), value: Buffer.from(value) },
      })),
    );
    const { api } = this.client.produceV9;
    const { producerId, producerEpoch } = producer;
    const options = { producerId, producerEpoch, sequences, compression: 'lz4' } as const;
    const sent = api.async(connection, ALL, this.#answerMs, messages, options);
    const answer = await answerOf(sent, this.client);
    const answers = typeof answer === 'boolean' ? [] : answer.responses;
    return new Map(
      answers.flatMap(({ partitionResponses }) =>
        partitionResponses.map(({ index, errorCode, baseOffset }) => [
          index,
          { code: errorCode, baseOffset: Number(baseOffset) },
        ]),
      ),
    );
  }

  disconnect(from: Leader): void {
    const open = this.#open.get(from);
    if (open === undefined) return;
    this.#open.delete(from);
    endConnection(open.connection);
  }

  async ping(): Promise<void> {
    await this.leaders();
  }

  close(): void {
    this.#isClosed = true;
    for (const leader of [...this.#open.keys()]) this.disconnect(leader);
  }

  async #connect(to: Leader): Promise<kafkaClient.Connection> {
    if (this.#isClosed) throw unusable(to, 'the writer is closed', true);
    const open = this.#open.get(to) ?? this.#openConnection(to);
    try {
      return await open.ready;
    } catch (error) {
      this.disconnect(to);
      const { reason, isLasting } = connectionProblem(error, this.client);
      throw unusable(to, reason, !isLasting);
    }
  }

  #openConnection(to: Leader): Open {
    const [{ host, port } = { host: to, port: 0 }] = brokerAddresses(to);
    const connection = new this.client.Connection(CLIENT_ID, {
      connectTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: this.#answerMs + ANSWER_SLACK_MS,
      ...clientSecurity(this.options.security, host),
    });
    // What fails is told to whoever waits for it; an event that nobody hears would end the program.
    connection.on('error', () => undefined);
    connection.on('close', () => {
      if (this.#open.get(to)?.connection === connection) this.#open.delete(to);
    });
    const open = { connection, ready: connected(connection, host, port) };
    this.#open.set(to, open);
    return open;
  }
}

async function connected(
  connection: kafkaClient.Connection,
  host: string,
  port: number,
): Promise<kafkaClient.Connection> {
  await connection.connect(host, port);
  connection.socket.setKeepAlive(true, KEEP_ALIVE_MS);
  return connection;
}

function unusable(broker: Leader, reason: string, isRetryable: boolean): DependencyError {
  return new DependencyError(`event log in Kafka: the broker ${broker} cannot be used: ${reason}`, {
    ...{ dependency: 'event-log', isRetryable },
  });
}

function missingTopic(name: string): DependencyError {
  return kafkaRefusalOf(KAFKA_ERROR.unknownTopic, `topic ${name}`, 'the brokers do not know it');
}
