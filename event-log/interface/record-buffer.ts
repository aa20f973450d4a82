import type { LogRecord, ReadRequest } from './event-log.js';

/**
 * What was fetched of one partition and not read yet, ascending without gaps. A fetch may give more
 * records than a read asks for; the next read gets the rest.
 */
export class RecordBuffer<Fetched extends { readonly offset: number }> {
  #fetched: readonly Fetched[] = [];

  /** `recordOf` makes a record of what was fetched, when it is read. */
  constructor(private readonly recordOf: (fetched: Fetched) => LogRecord) {}

  /** Offset of the first buffered record, or null when there is none. */
  get firstOffset(): number | null {
    return this.#fetched[0]?.offset ?? null;
  }

  add(fetched: readonly Fetched[]): void {
    this.#fetched = this.#fetched.length === 0 ? fetched : [...this.#fetched, ...fetched];
  }

  /** Moves records into `read` until its bounds are reached or none is left. */
  moveTo(read: BoundedRead): void {
    let moved = 0;
    for (const each of this.#fetched) {
      if (read.isFull) break;
      read.add(this.recordOf(each));
      moved += 1;
    }
    // What was read is let go of at once: it may be long until the buffer is empty.
    this.#fetched = this.#fetched.slice(moved);
  }

  clear(): void {
    this.#fetched = [];
  }
}

/** The records of one read while they are gathered; full once they reach the request's bounds. */
export class BoundedRead {
  readonly records: LogRecord[] = [];
  #bytes = 0;

  constructor(private readonly bounds: Pick<ReadRequest, 'recordsMax' | 'bytesMax'>) {}

  get isFull(): boolean {
    const { recordsMax, bytesMax } = this.bounds;
    if (this.records.length === 0) return false;
    return this.records.length >= recordsMax || this.#bytes >= bytesMax;
  }

  /** Sum of the value lengths so far, in UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  add(record: LogRecord): void {
    this.records.push(record);
    this.#bytes += Buffer.byteLength(record.value);
  }
}
