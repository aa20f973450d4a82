import type { LogRecord, ReadRequest } from './event-log.js';

/**
 * Records of one partition that were fetched and not read yet, ascending without gaps. A fetch may
 * give more records than a read asks for; the next read gets the rest.
 */
export class RecordBuffer {
  #records: readonly LogRecord[] = [];
  #position = 0;

  /** Offset of the first buffered record, or null when there is none. */
  get firstOffset(): number | null {
    return this.#records[this.#position]?.offset ?? null;
  }

  /** Appends fetched records. */
  add(records: readonly LogRecord[]): void {
    const left = this.#records.slice(this.#position);
    this.#records = left.length === 0 ? records : [...left, ...records];
    this.#position = 0;
  }

  /** Moves records into `read` until its bounds are reached or none is left. */
  moveTo(read: BoundedRead): void {
    for (;;) {
      const record = this.#records[this.#position];
      if (record === undefined || read.isFull) break;
      read.add(record);
      this.#position += 1;
    }
    if (this.#position === this.#records.length) this.clear();
  }

  clear(): void {
    this.#records = [];
    this.#position = 0;
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
