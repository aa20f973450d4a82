import type { AppendRequest } from '../event-log.js';

/** Where the leader of a partition is reached: `host:port`. */
export type Leader = string;

/** What the brokers know an idempotent producer by. */
export type ProducerId = { readonly producerId: bigint; readonly producerEpoch: number };

/** Records of one partition; `sequence` is the number of the first one at its producer. */
export type NumberedRecords = {
  readonly partition: number;
  readonly sequence: number;
  readonly records: readonly AppendRequest[];
};

/** What a broker says of the records of one partition. */
export type ProduceAnswer = {
  /** 0 when they are stored, else the error. */
  readonly code: number;
  /** The offset of the first of them. */
  readonly baseOffset: number;
};

/** The brokers, as far as a producer needs them. */
export type ProduceCluster = {
  /**
   * The leader of each partition; null for one that has none now.
   * @throws DependencyError when no broker tells; not retryable when the topic is not the log.
   */
  leaders(): Promise<readonly (Leader | null)[]>;
  /** An id that no producer had before. @throws DependencyError when the broker gives none. */
  newProducerId(at: Leader): Promise<ProducerId>;
  /**
   * Sends one request with the records of several partitions, and gives the answer to each.
   * @throws when the outcome is unknown; DependencyError, not retryable, when the broker cannot be
   *   used.
   */
  produce(
    at: Leader,
    producer: ProducerId,
    batches: readonly NumberedRecords[],
  ): Promise<ReadonlyMap<number, ProduceAnswer>>;
  /** Ends the connection to a broker; a request under way fails. */
  disconnect(from: Leader): void;
  /** @throws DependencyError when no broker answers. */
  ping(): Promise<void>;
  close(): void;
};
