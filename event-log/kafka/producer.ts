import { assertThat, type DependencyError } from '../../runtime/failure.js';
import type { AppendRequest } from '../event-log.js';
import { logOutage } from '../group-commit.js';
import { KAFKA_ERROR, kafkaFailureOf } from './kafka-failure.js';
import { Leaders } from './leaders.js';
import type { Leader, ProduceAnswer, ProduceCluster } from './produce-cluster.js';
import { failureOfCode, outcomeOf } from './produce-outcome.js';
import { oneRequest, ProducerBatch, type Identity } from './producer-batch.js';

export type ProducerOptions = {
  /** After this time the records of a call fail, even if they may still become durable. */
  readonly produceTimeoutMs: number;
  /** How long after the beginning of one request the next may be sent to the same broker. */
  readonly intervalMs?: number;
  readonly retryMs?: number;
};

/**
 * The records of many single events then travel in one request, which costs a broker about as much
 * as one record (docs/architecture.md, D-021).
 */
const INTERVAL_MS = 4;
/** A failed request is repeated, and leaders are asked for again, after this time. */
const RETRY_MS = 100;
/** Late records are looked for at this interval. */
const SWEEP_MS = 100;

const NO_ANSWER = { code: null, baseOffset: -1 } as const;

type Lane = { readonly leader: Leader; isBusy: boolean; nextAtMs: number };

/**
 * An idempotent producer that sends what waits for all partitions of a broker in one request, and
 * one request at a time to each broker. A batch whose outcome is unknown is sent again with the
 * same producer id and numbers, so that the log has it once. After a batch was given up, an id that
 * was never used takes over: else the broker could take other records under the same numbers for
 * the ones that it has, and acknowledge them without storing them.
 */
export class Producer {
  /** By partition, which has one batch at a time; oldest first. */
  readonly #open = new Map<number, ProducerBatch>();
  /** Partitions with records that no request has taken yet. */
  readonly #turns = new Map<number, () => void>();
  readonly #lanes = new Map<Leader, Lane>();
  readonly #leaders: Leaders;
  readonly #retryMs: number;
  #identity: Identity | null = null;
  /** By broker, since one that hangs must not hold up what others can answer. */
  readonly #identifying = new Map<Leader, Promise<Identity>>();
  /** The offset of the batch that was acknowledged last, by partition. */
  readonly #storedAt = new Map<number, number>();
  #planned: NodeJS.Immediate | null = null;
  #wake: { readonly timer: NodeJS.Timeout; readonly atMs: number } | null = null;
  #sweep: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(
    private readonly cluster: ProduceCluster,
    private readonly options: ProducerOptions,
  ) {
    this.#retryMs = options.retryMs ?? RETRY_MS;
    this.#leaders = new Leaders(cluster, this.#retryMs, {
      onAnswer: () => this.#followLeaders(),
      onFailure: (failure) => this.#withoutLeaders(failure),
    });
  }

  /**
   * Resolves when a request is about to be sent to the leader of the partition: what is delivered
   * at once then is part of it. So records wait for each other no longer than for the broker.
   */
  turn(partition: number): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#turns.set(partition, resolve);
      this.#plan();
    });
  }

  /**
   * Resolves when the records, all of one partition, are acknowledged. The caller waits for the end
   * of one call before the next one for the same partition.
   * @param deadlineMs when they fail, by the clock of `performance.now()`.
   * @throws DependencyError when they were not acknowledged in time; the log may have them
   *   nevertheless.
   */
  deliver(
    records: readonly AppendRequest[],
    deadlineMs = performance.now() + this.options.produceTimeoutMs,
  ): Promise<void> {
    const [first] = records;
    if (first === undefined) return Promise.resolve();
    const { partition } = first;
    assertThat(!this.#open.has(partition), `partition ${partition} has a batch under way`);
    if (this.#isClosed) return Promise.reject(closedFailure());
    return new Promise((resolve, reject) => {
      const batch = new ProducerBatch(records, deadlineMs, (failure) => {
        this.#open.delete(partition);
        if (failure === null) resolve();
        else reject(failure);
      });
      this.#open.set(partition, batch);
      this.#sweep ??= setInterval(() => this.#failLate(), SWEEP_MS);
      this.#plan();
    });
  }

  ping(): Promise<void> {
    return this.cluster.ping();
  }

  /** Ends what is under way; nobody waits for records any more. */
  close(): Promise<void> {
    this.#isClosed = true;
    if (this.#sweep !== null) clearInterval(this.#sweep);
    if (this.#wake !== null) clearTimeout(this.#wake.timer);
    this.#leaders.close();
    for (const batch of [...this.#open.values()]) batch.settle(closedFailure());
    for (const partition of [...this.#turns.keys()]) this.#grant(partition);
    this.cluster.close();
    return Promise.resolve();
  }

  /** Records that come in one turn of the event loop share a request. */
  #plan(): void {
    this.#planned ??= setImmediate(() => this.#dispatch());
  }

  #grant(partition: number): void {
    const grant = this.#turns.get(partition);
    this.#turns.delete(partition);
    grant?.();
  }

  /** Sends what can be sent now, and comes back when more can. */
  #dispatch(): void {
    this.#planned = null;
    if (this.#isClosed || (this.#open.size === 0 && this.#turns.size === 0)) return;
    const nowMs = performance.now();
    let nextAtMs = Number.POSITIVE_INFINITY;
    for (const leader of this.#dueLeaders(nowMs)) {
      const lane = this.#laneOf(leader);
      if (lane.isBusy) continue;
      if (lane.nextAtMs > nowMs) nextAtMs = Math.min(nextAtMs, lane.nextAtMs);
      else this.#begin(lane);
    }
    for (const { notBeforeMs } of this.#open.values()) {
      if (notBeforeMs > nowMs) nextAtMs = Math.min(nextAtMs, notBeforeMs);
    }
    this.#leaders.refresh();
    if (nextAtMs !== Number.POSITIVE_INFINITY) this.#dispatchAt(nextAtMs);
  }

  #dispatchAt(atMs: number): void {
    if (this.#wake !== null && this.#wake.atMs <= atMs) return;
    if (this.#wake !== null) clearTimeout(this.#wake.timer);
    const waitMs = Math.ceil(atMs - performance.now());
    const timer = setTimeout(() => {
      this.#wake = null;
      this.#dispatch();
    }, waitMs);
    this.#wake = { timer, atMs };
  }

  /** The brokers to which something may be sent. What has no leader now waits as a batch. */
  #dueLeaders(nowMs: number): ReadonlySet<Leader> {
    const due = new Set<Leader>();
    for (const batch of this.#open.values()) {
      const leader = this.#leaders.of(batch.partition);
      if (leader !== null && batch.isDue(nowMs)) due.add(leader);
    }
    for (const partition of [...this.#turns.keys()]) {
      const leader = this.#leaders.of(partition);
      if (leader === null) this.#grant(partition);
      else due.add(leader);
    }
    return due;
  }

  #laneOf(leader: Leader): Lane {
    const known = this.#lanes.get(leader);
    if (known !== undefined) return known;
    const lane = { leader, isBusy: false, nextAtMs: 0 };
    this.#lanes.set(leader, lane);
    return lane;
  }

  /** Lets the partitions of a broker deliver what they have, then sends it. */
  #begin(lane: Lane): void {
    lane.isBusy = true;
    lane.nextAtMs = performance.now() + (this.options.intervalMs ?? INTERVAL_MS);
    for (const partition of [...this.#turns.keys()]) {
      if (this.#leaders.of(partition) === lane.leader) this.#grant(partition);
    }
    setImmediate(() => void this.#send(lane));
  }

  #batchesFor(leader: Leader): readonly ProducerBatch[] {
    const nowMs = performance.now();
    const due = [...this.#open.values()].filter(
      (batch) => batch.isDue(nowMs) && this.#leaders.of(batch.partition) === leader,
    );
    return oneRequest(due, this.#identity);
  }

  /** Never rejects. */
  async #send(lane: Lane): Promise<void> {
    const batches = this.#batchesFor(lane.leader);
    for (const batch of batches) batch.sentTo = lane.leader;
    try {
      if (batches.length > 0) await this.#produce(lane.leader, batches);
    } catch (error) {
      this.cluster.disconnect(lane.leader);
      const failure = kafkaFailureOf(error, 'a record was not acknowledged');
      for (const batch of batches) this.#failed(batch, failure);
    }
    for (const batch of batches) batch.sentTo = null;
    lane.isBusy = false;
    // Not at once, so that partitions whose batches have ended can ask for their next turn before.
    this.#plan();
  }

  async #produce(leader: Leader, batches: readonly ProducerBatch[]): Promise<void> {
    const identity = batches[0]?.identity ?? (await this.#identify(leader));
    // One that was given up meanwhile must not take a number that its successor gets, too.
    const open = batches.filter((batch) => this.#isOpen(batch));
    if (open.length === 0) return;
    const numbered = open.map((batch) => batch.numbered(identity));
    const answers = await this.cluster.produce(leader, identity, numbered);
    for (const batch of open) this.#answered(batch, answers.get(batch.partition) ?? null);
  }

  #identify(at: Leader): Promise<Identity> {
    if (this.#identity !== null) return Promise.resolve(this.#identity);
    const asking =
      this.#identifying.get(at) ??
      this.cluster
        .newProducerId(at)
        .then((id) => (this.#identity ??= { ...id, next: new Map<number, number>() }))
        .finally(() => this.#identifying.delete(at));
    this.#identifying.set(at, asking);
    return asking;
  }

  #isOpen(batch: ProducerBatch): boolean {
    return this.#open.get(batch.partition) === batch;
  }

  #answered(batch: ProducerBatch, answer: ProduceAnswer | null): void {
    const { code, baseOffset } = answer ?? NO_ANSWER;
    if (code === KAFKA_ERROR.unknownTopic) this.#leaders.forget();
    if (!this.#isOpen(batch)) return;
    const outcome = outcomeOf(code);
    if (outcome === 'stored') this.#stored(batch, baseOffset);
    else if (outcome === 'refused') this.#giveUp(batch, failureOfCode(code));
    else {
      if (outcome === 'renumber') this.#forget(batch);
      this.#retryLater(batch, failureOfCode(code));
    }
  }

  /**
   * Offsets of a log only rise. One that does not is of a topic that was made anew, or of other
   * records that the broker took for these: they are not in the log.
   */
  #stored(batch: ProducerBatch, baseOffset: number): void {
    const { partition } = batch;
    if (baseOffset <= (this.#storedAt.get(partition) ?? -1)) {
      this.#leaders.forget();
      this.#forget(batch);
      this.#retryLater(batch, logOutage('the broker answers with an offset that it had before'));
      return;
    }
    this.#storedAt.set(partition, baseOffset);
    batch.countUp();
    batch.settle(null);
  }

  #failed(batch: ProducerBatch, failure: DependencyError): void {
    if (!this.#isOpen(batch)) return;
    if (failure.isRetryable) this.#retryLater(batch, failure);
    else this.#giveUp(batch, failure);
  }

  #retryLater(batch: ProducerBatch, failure: DependencyError): void {
    this.#leaders.doubt();
    batch.lastFailure = failure;
    batch.notBeforeMs = performance.now() + this.#retryMs;
  }

  /** Nothing else may be sent under the numbers of this batch. */
  #forget(batch: ProducerBatch): void {
    if (batch.identity === this.#identity) this.#identity = null;
    batch.forgetNumbers();
  }

  #giveUp(batch: ProducerBatch, failure: DependencyError): void {
    this.#forget(batch);
    batch.settle(failure);
  }

  #failLate(): void {
    const nowMs = performance.now();
    for (const batch of [...this.#open.values()]) {
      if (batch.deadlineMs > nowMs) continue;
      this.#giveUp(batch, batch.lastFailure ?? logOutage('no acknowledgement came in time'));
      if (batch.sentTo === null) continue;
      // Else what waits for this broker would wait for the answer.
      this.cluster.disconnect(batch.sentTo);
      this.#leaders.doubt();
    }
    if (this.#open.size > 0 || this.#sweep === null) return;
    clearInterval(this.#sweep);
    this.#sweep = null;
  }

  /** What is on its way to a broker that does not lead any more is sent to the one that does. */
  #followLeaders(): void {
    for (const { partition, sentTo } of this.#open.values()) {
      const leader = this.#leaders.of(partition);
      if (sentTo !== null && leader !== null && leader !== sentTo) this.cluster.disconnect(sentTo);
    }
    this.#plan();
  }

  /** What no retry can overcome, such as a login that is refused, is told at once. */
  #withoutLeaders(failure: DependencyError): void {
    for (const batch of [...this.#open.values()]) {
      if (failure.isRetryable) batch.lastFailure = failure;
      else this.#giveUp(batch, failure);
    }
    this.#plan();
  }
}

export function closedFailure(): DependencyError {
  return logOutage('the writer is closed');
}
