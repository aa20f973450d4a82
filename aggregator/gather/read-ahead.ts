import type { EventLogReader } from '../../event-log/interface/event-log.js';
import { messageOf } from '../../runtime/failure.js';
import type { DecodedRecord } from '../fold/candidate.js';
import { DecodedRecords, type GatherBounds } from './decoded-records.js';

/** How long one read of an idle partition waits for a first record. */
const IDLE_WAIT_MS = 1_000;

export type ReadAheadSources = {
  readonly partition: number;
  readonly log: Pick<EventLogReader, 'read'>;
  /** What this partition may gather for its next batch. */
  readonly bounds: () => GatherBounds;
  /** Called when there is a first record, when there is no more room, and when a read failed. */
  readonly onChange: () => void;
};

const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(messageOf(thrown));

/**
 * Reads and decodes the records of the next batch of one partition, while the batch before it is
 * being written. One read is under way at a time.
 */
export class ReadAhead {
  /** What the batch under way may be made of, which may end before the last; null when stopped. */
  #given: DecodedRecords | null = null;
  #next = new DecodedRecords(0);
  #reading: Promise<void> | null = null;
  #stop = new AbortController();
  #failure: Error | null = null;

  constructor(private readonly sources: ReadAheadSources) {}

  /** Whether there are records, or a failure to tell. */
  get isReady(): boolean {
    return this.#failure !== null || !this.#next.isEmpty;
  }

  /** Whether nothing is gained by waiting. */
  get isFull(): boolean {
    return this.#failure !== null || this.#next.recordsThatFit(this.sources.bounds()) === 0;
  }

  /**
   * Goes on from an offset: where the last batch ended, or any other after the partition was taken.
   */
  async seek(from: number): Promise<void> {
    const given = this.#given;
    const isKnown = given !== null && from >= given.start && from <= given.end;
    if (isKnown) this.#next.putInFront(given, from);
    else {
      await this.stop();
      this.#next = new DecodedRecords(from);
    }
    this.#given = new DecodedRecords(from);
    this.#readOn();
  }

  /**
   * The records that there are, in ascending order; from now on those of the next batch are read.
   * @throws what the last read failed with; the next `seek` reads on.
   */
  take(): readonly DecodedRecord[] {
    const failure = this.#failure;
    this.#failure = null;
    if (failure !== null) throw failure;
    const given = this.#next;
    this.#given = given;
    this.#next = given.following();
    this.#readOn();
    return given.records;
  }

  /** Adds what has come since the first record was read. */
  async refresh(): Promise<void> {
    // A read that is under way while there are records waits for no others.
    if (this.#reading !== null) await this.#reading;
    else if (!this.isFull) await this.#track(this.#readOnce(0));
  }

  /** Ends reading; `seek` begins anew. Nothing reads the partition when this has resolved. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#reading;
    this.#failure = null;
    this.#given = null;
  }

  #readOn(): void {
    if (this.#reading !== null) return;
    this.#stop = new AbortController();
    void this.#track(this.#readUntilSome());
  }

  async #track(reading: Promise<unknown>): Promise<void> {
    const tracked = reading
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#failure = asError(error);
      })
      .then(() => {
        this.#reading = null;
        this.sources.onChange();
      });
    this.#reading = tracked;
    await tracked;
  }

  /** Reads until there is a first record, and on while more are there than one read returns. */
  async #readUntilSome(): Promise<void> {
    let mayHaveMore = true;
    while (!this.#stop.signal.aborted && (this.#next.isEmpty || mayHaveMore) && !this.isFull) {
      mayHaveMore = await this.#readOnce(this.#next.isEmpty ? IDLE_WAIT_MS : 0);
    }
  }

  /** Whether the read ended because of its bounds. */
  async #readOnce(waitMs: number): Promise<boolean> {
    const { partition, log, bounds } = this.sources;
    const into = this.#next;
    const recordsMax = into.recordsThatFit(bounds());
    const bytesMax = into.bytesThatFit(bounds());
    const { signal } = this.#stop;
    const request = { partition, fromOffset: into.end, recordsMax, bytesMax, waitMs, signal };
    const records = await log.read(request);
    // Meanwhile the partition may have been taken again, and be read from another offset.
    if (into !== this.#next || signal.aborted) return true;
    into.add(records);
    return records.length >= recordsMax;
  }
}
