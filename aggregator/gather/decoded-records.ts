import type { LogRecord } from '../../event-log/interface/event-log.js';
import { hashText } from '../../runtime/hash-text.js';
import { decodeRecord, type DecodedRecord } from '../fold/candidate.js';

/** A decoded record, and how much it is. */
type Entry = { readonly record: DecodedRecord; readonly events: number; readonly bytes: number };

/** What may be gathered at a time. */
export type GatherBounds = { readonly eventsMax: number; readonly bytesMax: number };

/** Records of a partition, one after the other, decoded and counted. */
export class DecodedRecords {
  #entries: Entry[] = [];
  #events = 0;
  #bytes = 0;

  /** `eventsOfLargest`: of the largest record so far, before these; null when none is known. */
  constructor(
    private readonly from: number,
    private eventsOfLargest: number | null = null,
  ) {}

  /** The offset of the first one, or where it will stand. */
  get start(): number {
    return this.#entries[0]?.record.offset ?? this.from;
  }

  /** The offset after the last one. */
  get end(): number {
    const last = this.#entries.at(-1);
    return last === undefined ? this.from : last.record.offset + 1;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  get records(): readonly DecodedRecord[] {
    return this.#entries.map(({ record }) => record);
  }

  add(records: readonly LogRecord[]): void {
    for (const record of records) {
      const decoded = decodeRecord(record, hashText);
      const events = Math.max(1, decoded.candidates.length);
      this.#count({ record: decoded, events, bytes: record.value.length });
    }
  }

  /** Puts those of the records before these in front that stand at the offset or above it. */
  putInFront(earlier: DecodedRecords, from: number): void {
    const before = earlier.#entries.filter(({ record }) => record.offset >= from);
    if (before.length === 0) return;
    const after = this.#entries;
    this.#entries = [];
    this.#events = 0;
    this.#bytes = 0;
    for (const entry of [...before, ...after]) this.#count(entry);
  }

  /**
   * How many more records fit if none is larger than the largest so far; 0 when the bytes are full.
   * Records beyond a batch are not read, since they would be read and decoded again.
   */
  recordsThatFit({ eventsMax, bytesMax }: GatherBounds): number {
    if (this.#bytes >= bytesMax) return 0;
    if (this.eventsOfLargest === null) return 1;
    const fitting = Math.floor((eventsMax - this.#events) / this.eventsOfLargest);
    return this.isEmpty ? Math.max(1, fitting) : Math.max(0, fitting);
  }

  /** For the records that follow these. */
  following(): DecodedRecords {
    return new DecodedRecords(this.end, this.eventsOfLargest);
  }

  bytesThatFit({ bytesMax }: GatherBounds): number {
    return Math.max(1, bytesMax - this.#bytes);
  }

  #count(entry: Entry): void {
    this.#entries.push(entry);
    this.#events += entry.events;
    this.#bytes += entry.bytes;
    this.eventsOfLargest = Math.max(this.eventsOfLargest ?? 1, entry.events);
  }
}
