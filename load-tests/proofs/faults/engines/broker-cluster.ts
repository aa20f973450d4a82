import { setTimeout as delay } from 'node:timers/promises';
import { USAGE_EVENTS_TOPIC } from '../../../../contract/topics.js';
import { askBrokers } from '../../../../event-log/kafka/ask-brokers.js';
import type { MortalEngine } from './mortal-engine.js';

const TIMEOUT_MS = 5_000;
/** A broker that was killed has caught up within seconds, on a busy machine later. */
const PATIENCE_MS = 60_000;
const POLL_MS = 200;

type Partition = {
  readonly partitionIndex: number;
  readonly leaderId: number;
  readonly replicaNodes: readonly number[];
  readonly isrNodes: readonly number[];
};

/** The brokers of the suite: one, or several of which at most one is away at a time. */
export class BrokerCluster {
  #turn: Promise<void> = Promise.resolve();

  constructor(
    readonly engines: readonly MortalEngine[],
    /** Addresses of all of them: `host:port,host:port`. */
    readonly brokers: string,
  ) {}

  async start(attempts?: number): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.start(attempts)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.stop()));
  }

  /**
   * Does something to one broker that ends with its return. Of several brokers, the next one has
   * its turn when every replica is in sync again.
   */
  strike(index: number, blow: (engine: MortalEngine) => Promise<void>): Promise<void> {
    const engine = this.engines[index];
    if (engine === undefined) return Promise.resolve();
    if (this.engines.length === 1) return blow(engine);
    return this.#inTurn(async () => {
      await blow(engine);
      await this.#until(
        ({ replicaNodes, isrNodes }) => isrNodes.length === replicaNodes.length,
        'a broker did not get in sync again',
      );
    });
  }

  /**
   * Moves the leadership of every partition to its next replica: it is named as the one that should
   * lead, and the controller sees to it within a second (server-properties.ts).
   */
  moveLeaders(): Promise<void> {
    return this.#inTurn(async () => {
      const partitions = await this.#partitions();
      const moved = partitions.map(({ partitionIndex, replicaNodes: [first = 1, ...rest] }) => ({
        partitionIndex,
        replicas: [...rest, first],
      }));
      const topic = { name: USAGE_EVENTS_TOPIC, partitions: moved };
      await askBrokers(this, TIMEOUT_MS, (connection, { alterPartitionReassignmentsV1: { api } }) =>
        api.async(connection, TIMEOUT_MS, false, [topic]),
      );
      const wanted = new Map(moved.map((one) => [one.partitionIndex, one.replicas[0]]));
      await this.#until(
        ({ leaderId, partitionIndex }) => leaderId === wanted.get(partitionIndex),
        'the leadership of a partition did not move',
      );
    });
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #partitions(): Promise<readonly Partition[]> {
    const { topics } = await askBrokers(this, TIMEOUT_MS, (connection, { metadataV10: { api } }) =>
      api.async(connection, [USAGE_EVENTS_TOPIC], false, false),
    );
    return topics[0]?.partitions ?? [];
  }

  /** Waits until every partition is so. @throws Error with the problem when it takes too long. */
  async #until(isSo: (partition: Partition) => boolean, problem: string): Promise<void> {
    const deadlineMs = performance.now() + PATIENCE_MS;
    while (!(await this.#partitions()).every(isSo)) {
      if (performance.now() > deadlineMs) throw new Error(problem);
      await delay(POLL_MS);
    }
  }
}
