import type { DependencyError } from '../../runtime/failure.js';
import type { AppendRequest } from '../event-log.js';
import { bytesOf } from '../group-commit.js';
import type { Leader, NumberedRecords, ProducerId } from './produce-cluster.js';

/** Brokers take requests of up to 100 MiB by default. A larger batch travels alone. */
const REQUEST_BYTES_MAX = 32 * 1024 * 1024;
/** Sequence numbers have 31 bits. */
const SEQUENCES = 2 ** 31;

/** One producer id, and the number of the next record of each partition. */
export type Identity = ProducerId & { readonly next: Map<number, number> };

/** Records of one partition that are sent until a broker has acknowledged them. */
export class ProducerBatch {
  /** Set at the first sending and kept, so that a broker recognises what is sent again. */
  #stamp: { readonly identity: Identity; readonly sequence: number } | null = null;
  /** The broker to which it is on its way. */
  sentTo: Leader | null = null;
  notBeforeMs = 0;
  lastFailure: DependencyError | null = null;
  readonly partition: number;
  readonly bytes: number;

  /** @param records all of one partition. */
  constructor(
    readonly records: readonly AppendRequest[],
    readonly deadlineMs: number,
    readonly settle: (failure: DependencyError | null) => void,
  ) {
    this.partition = records[0]?.partition ?? 0;
    this.bytes = bytesOf(records);
  }

  /** Null before it was sent. */
  get identity(): Identity | null {
    return this.#stamp?.identity ?? null;
  }

  isDue(nowMs: number): boolean {
    return this.sentTo === null && this.notBeforeMs <= nowMs;
  }

  numbered(identity: Identity): NumberedRecords {
    const { partition, records } = this;
    this.#stamp ??= { identity, sequence: identity.next.get(partition) ?? 0 };
    return { partition, records, sequence: this.#stamp.sequence };
  }

  /** It is stored: the numbers behind it are next. */
  countUp(): void {
    if (this.#stamp === null) return;
    const { identity, sequence } = this.#stamp;
    identity.next.set(this.partition, (sequence + this.records.length) % SEQUENCES);
  }

  /** It is sent under other numbers from now on, or not at all. */
  forgetNumbers(): void {
    this.#stamp = null;
  }
}

/**
 * Those of the batches, oldest first, that fit into one request and share the identity of the
 * first; those that have none yet get the present one.
 */
export function oneRequest(
  batches: readonly ProducerBatch[],
  present: Identity | null,
): readonly ProducerBatch[] {
  const [first] = batches;
  if (first === undefined) return [];
  const identity = first.identity ?? present;
  let bytes = 0;
  return batches.filter((batch) => {
    if ((batch.identity ?? present) !== identity) return false;
    if (batch !== first && bytes + batch.bytes > REQUEST_BYTES_MAX) return false;
    bytes += batch.bytes;
    return true;
  });
}
