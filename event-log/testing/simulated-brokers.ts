import { DependencyError } from '../../runtime/failure.js';
import { KAFKA_ERROR } from '../kafka/kafka-failure.js';
import type {
  Leader,
  NumberedRecords,
  ProduceAnswer,
  ProduceCluster,
  ProducerId,
} from '../kafka/produce-cluster.js';

/** Random draws that one seed determines. */
export type Draws = {
  /** An integer of `[from, to]`. */
  readonly between: (from: number, to: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(items: readonly T[]) => T;
};

export type BrokersOptions = {
  readonly leaders: readonly Leader[];
  readonly partitionCount: number;
  /** After this time a client stops waiting for an answer. */
  readonly requestTimeoutMs: number;
  /** Every producer gets the same id. */
  readonly givesIdsTwice: boolean;
  /** How likely each kind of fault is, each time that it could happen. */
  readonly faults: {
    /** A request or its answer is lost, or the request arrives late. */
    readonly request: number;
    /** The caller of such a request is told nothing, not even of a lost connection. */
    readonly silence: number;
    /** A broker answers nothing for longer than a client waits. */
    readonly hang: number;
    /** A leader moves. */
    readonly move: number;
    /** A broker answers with an error, or cannot tell leaders, or gives no id. */
    readonly error: number;
    /** A broker forgets a producer. */
    readonly forget: number;
    /** A new id takes long, perhaps longer than a client waits. */
    readonly slowId: number;
  };
};

type Stored = {
  readonly sequence: number;
  readonly count: number;
  readonly baseOffset: number;
};
type Log = {
  leader: Leader;
  readonly values: string[];
  /** By producer id: the newest batches, oldest first. */
  readonly producers: Map<bigint, readonly Stored[]>;
};
type Call<T> = { readonly answer: (value: T) => void; readonly fail: (error: Error) => void };
type Produce = {
  readonly at: Leader;
  readonly producerId: bigint;
  readonly batches: readonly NumberedRecords[];
};

/** So many batches of a producer are compared with what arrives. */
const STORED_MAX = 5;
const SEQUENCES = 2 ** 31;
const LATENCY_MAX_MS = 4;
const SERVED = 0;

const refusal = (code: number): ProduceAnswer => ({ code, baseOffset: -1 });

function emptyLog(leader: Leader): Log {
  return { leader, values: [], producers: new Map() };
}

/** As `assertSameLog` says it. */
function otherLog(): DependencyError {
  return new DependencyError('the id of the log changed', {
    ...{ dependency: 'event-log', isRetryable: false },
  });
}

const later = (ms: number, work: () => void): void => void setTimeout(work, ms);

/**
 * Brokers in memory that number, refuse and recognise batches as those of Kafka do, with faults. A
 * batch is recognised by its numbers alone: other records under the same numbers are acknowledged
 * and not stored.
 */
export class SimulatedBrokers implements ProduceCluster {
  logs: readonly Log[];
  /** The logs of the topic that was deleted; null before. */
  former: readonly Log[] | null = null;
  /** What happened, so that a test sees that its faults occur. */
  readonly seen = { recognised: 0, late: 0, moved: 0, hangs: 0, forgotten: 0, ids: 0 };
  readonly #underWay = new Map<Leader, Set<(error: Error) => void>>();
  readonly #hungUntilMs = new Map<Leader, number>();
  #staleLeaders: readonly Leader[];
  #isHealthy = false;

  constructor(
    private readonly draws: Draws,
    private readonly options: BrokersOptions,
  ) {
    this.logs = Array.from({ length: options.partitionCount }, (_none, partition) =>
      emptyLog(options.leaders[partition % options.leaders.length] ?? ''),
    );
    this.#staleLeaders = this.#leadersNow();
  }

  /** No fault happens any more. What was delayed before still arrives. */
  heal(): void {
    this.#isHealthy = true;
    this.#hungUntilMs.clear();
  }

  /**
   * The topic is deleted and made anew, with the leaders that it had. What is under way reaches the
   * new one.
   */
  remakeTopic(): void {
    this.former = this.logs;
    this.logs = this.logs.map(({ leader }) => emptyLog(leader));
  }

  leaders(): Promise<readonly (Leader | null)[]> {
    return new Promise((resolve, reject) => {
      later(this.#latencyMs(), () => {
        if (this.#happens('error')) reject(new Error('no broker tells'));
        else if (this.former !== null) reject(otherLog());
        else if (this.#happens('error')) resolve(this.#staleLeaders);
        else if (this.#happens('error')) resolve(this.logs.map(() => null));
        else resolve(this.#leadersNow());
      });
    });
  }

  newProducerId(at: Leader): Promise<ProducerId> {
    return this.#call(at, ({ answer, fail }) => {
      if (this.#happens('error')) {
        later(this.#latencyMs(), () => fail(new Error('no id')));
        return;
      }
      const isSlow = this.#happens('slowId');
      const slownessMs = isSlow ? this.draws.between(1, 2 * this.options.requestTimeoutMs) : 0;
      later(this.#serviceMs(at) + slownessMs, () => {
        this.seen.ids += 1;
        const { givesIdsTwice } = this.options;
        answer({ producerId: givesIdsTwice ? 1n : BigInt(this.seen.ids), producerEpoch: 0 });
      });
    });
  }

  produce(
    at: Leader,
    { producerId }: ProducerId,
    batches: readonly NumberedRecords[],
  ): Promise<ReadonlyMap<number, ProduceAnswer>> {
    return this.#call(at, (call) => {
      this.#beginFaults(at);
      const request = { at, producerId, batches };
      if (this.#happens('request')) this.#spoil(request, call);
      else later(this.#serviceMs(at), () => call.answer(this.#store(request)));
    });
  }

  disconnect(from: Leader): void {
    for (const fail of [...(this.#underWay.get(from) ?? [])]) fail(new Error('disconnected'));
  }

  ping(): Promise<void> {
    return Promise.resolve();
  }

  close(): void {
    for (const leader of this.options.leaders) this.disconnect(leader);
  }

  /** A call that ends by its answer, by a failure, by a disconnect or by its time-out. */
  #call<T>(at: Leader, work: (call: Call<T>) => void): Promise<T> {
    const calls = this.#underWay.get(at) ?? new Set();
    this.#underWay.set(at, calls);
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        calls.delete(fail);
        settle();
      };
      const fail = (error: Error): void => end(() => reject(error));
      const overdue = (): void => fail(new Error('timed out'));
      const timer = setTimeout(overdue, this.options.requestTimeoutMs);
      calls.add(fail);
      work({ fail, answer: (value) => end(() => resolve(value)) });
    });
  }

  /** The caller does not learn the outcome. The records may be stored, even much later. */
  #spoil(request: Produce, { fail }: Pick<Call<never>, 'fail'>): void {
    const fate = this.draws.pick(['lost', 'stored', 'late'] as const);
    if (fate === 'late') this.#storeLate(request);
    const isSilent = this.#happens('silence');
    later(this.#latencyMs(), () => {
      if (fate === 'stored') this.#store(request);
      if (!isSilent) fail(new Error('connection lost'));
    });
  }

  #storeLate(request: Produce): void {
    later(this.draws.between(1, 3 * this.options.requestTimeoutMs), () => {
      const before = this.#storedCount();
      this.#store(request);
      if (this.#storedCount() > before) this.seen.late += 1;
    });
  }

  #storedCount(): number {
    return this.logs.reduce((count, { values }) => count + values.length, 0);
  }

  #beginFaults(at: Leader): void {
    if (this.#happens('hang')) {
      const { requestTimeoutMs } = this.options;
      const lengthMs = this.draws.between(requestTimeoutMs, 2 * requestTimeoutMs);
      this.#hungUntilMs.set(at, performance.now() + lengthMs);
      this.seen.hangs += 1;
    }
    if (this.#happens('move')) {
      this.#staleLeaders = this.#leadersNow();
      this.draws.pick(this.logs).leader = this.draws.pick(this.options.leaders);
      this.seen.moved += 1;
    }
  }

  #store({ at, producerId, batches }: Produce): ReadonlyMap<number, ProduceAnswer> {
    return new Map(
      batches.map((batch) => [batch.partition, this.#storeBatch(at, producerId, batch)] as const),
    );
  }

  #storeBatch(at: Leader, producerId: bigint, batch: NumberedRecords): ProduceAnswer {
    const log = this.logs[batch.partition];
    if (log === undefined) return refusal(KAFKA_ERROR.unknownTopic);
    if (log.leader !== at) return refusal(KAFKA_ERROR.notLeader);
    const { notEnoughReplicas, notEnoughReplicasAfterAppend, requestTimedOut } = KAFKA_ERROR;
    if (this.#happens('error')) {
      return refusal(this.draws.pick([notEnoughReplicas, requestTimedOut]));
    }
    const lost = this.#forgets(log, producerId);
    const answer = lost === null ? this.#append(log, producerId, batch) : refusal(lost);
    if (answer.code !== SERVED || !this.#happens('error')) return answer;
    return refusal(this.draws.pick([notEnoughReplicasAfterAppend, requestTimedOut]));
  }

  /** The answer of a broker that forgets the producer; null when it goes on as if it were new. */
  #forgets(log: Log, producerId: bigint): number | null {
    if (!this.#happens('forget')) return null;
    log.producers.delete(producerId);
    this.seen.forgotten += 1;
    const { outOfOrderSequence, invalidProducerEpoch, unknownProducerId } = KAFKA_ERROR;
    return this.draws.pick([null, outOfOrderSequence, invalidProducerEpoch, unknownProducerId]);
  }

  #append(log: Log, producerId: bigint, { sequence, records }: NumberedRecords): ProduceAnswer {
    const stored = log.producers.get(producerId) ?? [];
    const count = records.length;
    const same = stored.find((one) => one.sequence === sequence && one.count === count);
    if (same !== undefined) {
      this.seen.recognised += 1;
      return { code: SERVED, baseOffset: same.baseOffset };
    }
    const last = stored.at(-1);
    const next = last === undefined ? sequence : (last.sequence + last.count) % SEQUENCES;
    if (sequence !== next) {
      const { duplicateSequence, outOfOrderSequence } = KAFKA_ERROR;
      return refusal(sequence < next ? duplicateSequence : outOfOrderSequence);
    }
    const baseOffset = log.values.length;
    log.producers.set(producerId, [...stored, { sequence, count, baseOffset }].slice(-STORED_MAX));
    log.values.push(...records.map(({ value }) => value));
    return { code: SERVED, baseOffset };
  }

  #leadersNow(): readonly Leader[] {
    return this.logs.map(({ leader }) => leader);
  }

  #happens(fault: keyof BrokersOptions['faults']): boolean {
    return !this.#isHealthy && this.draws.chance(this.options.faults[fault]);
  }

  #latencyMs(): number {
    return this.draws.between(0, LATENCY_MAX_MS);
  }

  /** A broker that hangs keeps what reaches it, and serves it in the end. */
  #serviceMs(at: Leader): number {
    const hungMs = (this.#hungUntilMs.get(at) ?? 0) - performance.now();
    return Math.max(0, hungMs) + this.#latencyMs();
  }
}
