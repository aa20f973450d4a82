import { DependencyError, messageOf } from '../../runtime/failure.js';
import type { AppendRequest } from './event-log.js';

/** Bounds of one commit, and of the appends that wait for the next one. */
export type GroupLimits = {
  readonly groupRecordsMax: number;
  readonly groupBytesMax: number;
  readonly queueRecordsMax: number;
  readonly queueBytesMax: number;
  /** After this time an append fails, even if its records may still become durable. */
  readonly appendTimeoutMs: number;
};

/** What waits in one or several queues for its commit. */
export type QueueUsage = { records: number; bytes: number };

type Append = {
  readonly records: readonly AppendRequest[];
  readonly bytes: number;
  readonly deadlineMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

export type GroupOptions = {
  /** What waits here, and in other queues that are given the same one. */
  readonly usage?: QueueUsage;
  /** What comes until it resolves is part of the group; the end of a turn when absent. */
  readonly turn?: () => Promise<void>;
};

/** Requests that arrive together are handled in one turn of the event loop, and share a commit. */
const endOfTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Late appends are looked for at this interval, so a time-out can be noticed this much later. */
const SWEEP_MS = 100;

export function logOutage(message: string, cause?: unknown): DependencyError {
  return new DependencyError(`event log: ${message}`, {
    dependency: 'event-log',
    isRetryable: true,
    cause,
  });
}

export function bytesOf(records: readonly AppendRequest[]): number {
  let bytes = 0;
  for (const { key, value } of records) bytes += Buffer.byteLength(value) + Buffer.byteLength(key);
  return bytes;
}

/**
 * Gathers the appends that arrive during a commit into the next commit, so that all waiting callers
 * share the cost of making records durable. One commit runs at a time, and appends keep the order
 * of their calls. The size of a commit, the queue and the wait are bounded.
 */
export class GroupCommit {
  #queue: Append[] = [];
  #committing: readonly Append[] = [];
  #running: Promise<void> | null = null;
  #isClosed = false;
  #sweep: NodeJS.Timeout | null = null;
  readonly #usage: QueueUsage;
  readonly #turn: () => Promise<void>;

  /**
   * @param commit makes the records durable. If it throws, records may be in the log nevertheless.
   *   It must end by itself within about `appendTimeoutMs`.
   */
  constructor(
    private readonly commit: (records: readonly AppendRequest[]) => Promise<void>,
    private readonly limits: GroupLimits,
    { usage = { records: 0, bytes: 0 }, turn = endOfTurn }: GroupOptions = {},
  ) {
    this.#usage = usage;
    this.#turn = turn;
  }

  /**
   * Resolves when the records are durable.
   * @throws DependencyError when the queue is full, the commit failed or the time is over.
   */
  append(records: readonly AppendRequest[]): Promise<void> {
    if (this.#isClosed) return Promise.reject(logOutage('the writer is closed'));
    if (records.length === 0) return Promise.resolve();
    const bytes = bytesOf(records);
    if (this.#isFull(records.length, bytes)) {
      return Promise.reject(logOutage(`the queue is full: ${this.#usage.records} records wait`));
    }
    this.#usage.records += records.length;
    this.#usage.bytes += bytes;
    const deadlineMs = performance.now() + this.limits.appendTimeoutMs;
    return new Promise((resolve, reject) => {
      this.#queue.push({ records, bytes, deadlineMs, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Waits until every queued append is committed or has failed; later appends are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  /** An empty queue takes an append of any size, since a large one would never fit otherwise. */
  #isFull(records: number, bytes: number): boolean {
    if (this.#queue.length === 0) return false;
    return (
      this.#usage.records + records > this.limits.queueRecordsMax ||
      this.#usage.bytes + bytes > this.limits.queueBytesMax
    );
  }

  async #run(): Promise<void> {
    this.#sweep = setInterval(() => {
      this.#rejectLate();
    }, SWEEP_MS);
    while (this.#queue.length > 0) {
      await this.#turn();
      const group = this.#take();
      this.#committing = group;
      await this.#commitGroup(group);
      this.#committing = [];
    }
    clearInterval(this.#sweep);
    this.#running = null;
  }

  async #commitGroup(group: readonly Append[]): Promise<void> {
    try {
      await this.commit(group.flatMap(({ records }) => records));
      for (const append of group) append.resolve();
    } catch (error) {
      const failure = error instanceof DependencyError ? error : logOutage(messageOf(error), error);
      for (const append of group) append.reject(failure);
    }
  }

  #take(): readonly Append[] {
    let records = 0;
    let bytes = 0;
    let count = 0;
    for (const append of this.#queue) {
      records += append.records.length;
      bytes += append.bytes;
      const isOver = records > this.limits.groupRecordsMax || bytes > this.limits.groupBytesMax;
      if (isOver && count > 0) break;
      count += 1;
    }
    return this.#dequeue(count);
  }

  #dequeue(count: number): readonly Append[] {
    const taken = this.#queue.slice(0, count);
    this.#queue = this.#queue.slice(count);
    for (const append of taken) {
      this.#usage.records -= append.records.length;
      this.#usage.bytes -= append.bytes;
    }
    return taken;
  }

  /**
   * Rejects appends whose deadline is over; deadlines are in the order of the calls. A late append
   * that was only queued is never committed.
   */
  #rejectLate(): void {
    const nowMs = performance.now();
    const isLate = (append: Append): boolean => append.deadlineMs <= nowMs;
    const firstInTime = this.#queue.findIndex((append) => !isLate(append));
    const late = this.#dequeue(firstInTime === -1 ? this.#queue.length : firstInTime);
    for (const append of [...this.#committing.filter(isLate), ...late]) {
      append.reject(logOutage(`not durable within ${this.limits.appendTimeoutMs} ms`));
    }
  }
}
