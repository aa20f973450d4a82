import type {
  Leader,
  NumberedRecords,
  ProduceAnswer,
  ProduceCluster,
} from '../kafka/produce-cluster.js';

type ByPartition = Readonly<Record<number, number>>;

/** A request whose outcome the test decides. */
type Request = {
  readonly at: Leader;
  readonly producerId: bigint;
  readonly batches: readonly NumberedRecords[];
  /**
   * Answers with these codes; with 0 for the partitions that have none. The offsets that are not
   * named rise by the number of records.
   */
  readonly answer: (codes?: ByPartition, offsets?: ByPartition) => void;
  readonly fail: (error: Error) => void;
};

const LONG_VALUE_CHARACTERS = 20;

/** A request in one line: `broker id: partition/sequence=values ...`. */
function lineOf({ at, producerId, batches }: Request): string {
  const parts = batches.map(({ partition, sequence, records }) => {
    const values = records.map(({ value }) =>
      value.length > LONG_VALUE_CHARACTERS ? 'long' : value,
    );
    return `${partition}/${sequence}=${values.join('+')}`;
  });
  return `${at} ${producerId}: ${parts.join(' ')}`;
}

/** The offsets of what is answered as stored, by partition; from 0 on. */
class Offsets {
  readonly #next = new Map<number, number>();

  answerOf(
    { partition, records }: NumberedRecords,
    code: number,
    named: number | undefined,
  ): ProduceAnswer {
    if (code !== 0) return { code, baseOffset: -1 };
    const next = this.#next.get(partition) ?? 0;
    const baseOffset = named ?? next;
    this.#next.set(partition, Math.max(next, baseOffset + records.length));
    return { code, baseOffset };
  }
}

/**
 * Brokers that answer when the test says so. Partitions 0 and 1 are led by a, 2 and 3 by b, and
 * producer ids count from 1.
 */
export function createSteeredBrokers(replaced: Partial<ProduceCluster>) {
  let leaders: readonly (Leader | null)[] = ['a', 'a', 'b', 'b'];
  let ids = 0n;
  const requests: Request[] = [];
  const disconnected: Leader[] = [];
  const stored = new Offsets();
  let answerMs: number | null = null;
  const cluster: ProduceCluster = {
    leaders: () => Promise.resolve(leaders),
    newProducerId: () => Promise.resolve({ producerId: (ids += 1n), producerEpoch: 0 }),
    produce: (at, { producerId }, batches) =>
      new Promise((resolve, reject) => {
        const answer: Request['answer'] = (codes = {}, offsets = {}) => {
          const answerOf = (batch: NumberedRecords): ProduceAnswer =>
            stored.answerOf(batch, codes[batch.partition] ?? 0, offsets[batch.partition]);
          resolve(new Map(batches.map((batch) => [batch.partition, answerOf(batch)])));
        };
        requests.push({ at, producerId, batches, answer, fail: reject });
        if (answerMs !== null) setTimeout(answer, answerMs);
      }),
    disconnect: (from) => {
      disconnected.push(from);
      for (const { at, fail } of requests) if (at === from) fail(new Error('disconnected'));
    },
    ping: () => Promise.resolve(),
    close: () => undefined,
    ...replaced,
  };
  const lead = (next: readonly (Leader | null)[]): void => {
    leaders = next;
  };
  /** Every request from now on is answered by itself, this long after it was sent. */
  const answerAfter = (ms: number): void => {
    answerMs = ms;
  };
  const lines = (): readonly string[] => requests.map(lineOf);
  return { cluster, requests, disconnected, lead, lines, answerAfter };
}
