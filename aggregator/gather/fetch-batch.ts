import type { EventLogReader, LogRecord } from '../../event-log/event-log.js';
import type { CatalogReader } from './catalog.js';
import { decodeRecord, type DecodedRecord } from '../fold/candidate.js';
import type { Command, Outcome } from '../protocol/state.js';
import { hashText } from '../../runtime/hash-text.js';

export type FetchLimits = {
  /** Events that a process gathers at a time, in all its partitions together. */
  readonly eventsMax: number;
  /** How long a process with few partitions gathers a batch. */
  readonly flushDelayMs: number;
};

type Sources = {
  readonly partition: number;
  readonly log: Pick<EventLogReader, 'read'>;
  readonly catalog: Pick<CatalogReader, 'latest'>;
  readonly limits: FetchLimits;
  /** How many partitions this process runs now. */
  readonly partitionsRunning: () => number;
  /** Ends a wait for records. */
  readonly signal: AbortSignal;
};

/** How long one read of an idle partition waits for a first record. */
const IDLE_WAIT_MS = 1_000;
/** Bytes of record values in a batch; its rows and their texts take about four times as much. */
const BATCH_BYTES_MAX = 16 * 1024 * 1024;

/** A batch costs three inserts of about 15 ms; with more partitions each gathers for longer. */
const PARTITIONS_PER_FLUSH_DELAY = 4;
/** The event limit of a batch never falls below this: inserts of smaller batches cost too much. */
const EVENTS_MIN = 1_000;

/** The limits of one batch when this many partitions share memory and inserts. */
export function limitsOfBatch(limits: FetchLimits, partitions: number): FetchLimits {
  const { eventsMax, flushDelayMs } = limits;
  const share = Math.floor(eventsMax / Math.max(1, partitions));
  return {
    eventsMax: Math.min(eventsMax, Math.max(EVENTS_MIN, share)),
    flushDelayMs: flushDelayMs * Math.max(1, partitions / PARTITIONS_PER_FLUSH_DELAY),
  };
}

type Gathered = {
  readonly records: DecodedRecord[];
  events: number;
  bytes: number;
  /** Events of the largest record so far. */
  eventsOfRecord: number;
};

const emptyGathered = (): Gathered => ({ records: [], events: 0, bytes: 0, eventsOfRecord: 1 });

function gather(gathered: Gathered, records: readonly LogRecord[]): void {
  for (const record of records) {
    const decoded = decodeRecord(record, hashText);
    const events = Math.max(1, decoded.candidates.length);
    gathered.records.push(decoded);
    gathered.events += events;
    gathered.eventsOfRecord = Math.max(gathered.eventsOfRecord, events);
    gathered.bytes += record.value.length;
  }
}

/**
 * How many more records fit if none is larger than the largest so far. Records beyond the batch are
 * not read, since they would be read and decoded again for the next one.
 */
function recordsThatFit({ events, eventsOfRecord }: Gathered, eventsMax: number): number {
  return Math.floor((eventsMax - events) / eventsOfRecord);
}

async function readMore(
  { log, partition, signal }: Sources,
  gathered: Gathered,
  at: { readonly fromOffset: number; readonly waitMs: number; readonly recordsMax: number },
): Promise<boolean> {
  const records = await log.read({
    partition,
    ...at,
    bytesMax: BATCH_BYTES_MAX - gathered.bytes,
    signal,
  });
  gather(gathered, records);
  return records.length > 0;
}

function nextOffsetOf(gathered: Gathered, from: number): number {
  const last = gathered.records.at(-1);
  return last === undefined ? from : last.offset + 1;
}

/**
 * Waits for a first record and gathers more for the flush delay, so that low traffic costs few
 * inserts; a full batch does not wait. The catalog is read after the records, so that every event
 * is matched with a catalog that is no older than its arrival.
 */
export async function fetchBatch(
  sources: Sources,
  command: Extract<Command, { kind: 'fetch' }>,
): Promise<Outcome> {
  const { from, catalogVersionMin } = command;
  const { eventsMax, flushDelayMs } = limitsOfBatch(sources.limits, sources.partitionsRunning());
  const gathered = emptyGathered();
  const first = { fromOffset: from, waitMs: IDLE_WAIT_MS, recordsMax: 1 };
  let hasMore = await readMore(sources, gathered, first);
  const deadline = performance.now() + flushDelayMs;
  while (hasMore && gathered.bytes < BATCH_BYTES_MAX && !sources.signal.aborted) {
    const recordsMax = recordsThatFit(gathered, eventsMax);
    const waitMs = deadline - performance.now();
    if (recordsMax <= 0 || waitMs <= 0) break;
    const fromOffset = nextOffsetOf(gathered, from);
    hasMore = await readMore(sources, gathered, { fromOffset, waitMs, recordsMax });
  }
  const catalog = await sources.catalog.latest(catalogVersionMin);
  return { kind: 'fetched', records: gathered.records, catalog };
}

/** Reads the batch of an intent again: exactly its records, with the catalog version it names. */
export async function refetchBatch(
  sources: Pick<Sources, 'log' | 'partition' | 'signal'> & {
    readonly catalog: Pick<CatalogReader, 'load'>;
  },
  command: Extract<Command, { kind: 'refetch' }>,
): Promise<Outcome> {
  const { from, intent } = command;
  const gathered = emptyGathered();
  let hasMore = true;
  const isComplete = (): boolean => nextOffsetOf(gathered, from) >= intent.end;
  while (hasMore && !isComplete() && !sources.signal.aborted) {
    const fromOffset = nextOffsetOf(gathered, from);
    const records = await sources.log.read({
      partition: sources.partition,
      fromOffset,
      recordsMax: intent.end - fromOffset,
      bytesMax: BATCH_BYTES_MAX,
      waitMs: IDLE_WAIT_MS,
    });
    hasMore = records.length > 0;
    gather(
      gathered,
      records.filter((record) => record.offset < intent.end),
    );
  }
  const catalog = await sources.catalog.load(intent.catalogVersion);
  return { kind: 'fetched', records: gathered.records, catalog };
}
