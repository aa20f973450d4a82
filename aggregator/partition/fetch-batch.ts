import type { EventLogReader, LogRecord } from '../../event-log/event-log.js';
import type { CatalogReader } from '../catalog.js';
import { decodeRecord, type DecodedRecord } from '../fold/candidate.js';
import type { Command, Outcome } from '../protocol/state.js';
import { hashText } from './hash-text.js';

export type FetchLimits = {
  readonly eventsMax: number;
  readonly flushDelayMs: number;
};

type Sources = {
  readonly partition: number;
  readonly log: EventLogReader;
  readonly catalog: CatalogReader;
  readonly limits: FetchLimits;
  /** Ends the waiting for records. */
  readonly signal: AbortSignal;
};

/** How long an idle partition waits for its first record before it looks around again. */
const IDLE_WAIT_MS = 1_000;
/** Values of a batch in memory: rows and texts made of them take about four times as much. */
const BATCH_BYTES_MAX = 16 * 1024 * 1024;

type Gathered = { readonly records: DecodedRecord[]; events: number; bytes: number };

function gather(gathered: Gathered, records: readonly LogRecord[]): void {
  for (const record of records) {
    const decoded = decodeRecord(record, hashText);
    gathered.records.push(decoded);
    gathered.events += Math.max(1, decoded.candidates.length);
    gathered.bytes += record.value.length;
  }
}

async function readOn(
  { log, partition, limits, signal }: Sources,
  gathered: Gathered,
  at: { readonly fromOffset: number; readonly waitMs: number },
): Promise<boolean> {
  const records = await log.read({
    partition,
    ...at,
    recordsMax: Math.max(1, limits.eventsMax - gathered.events),
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
 * Waits for a first record, then gathers for the flush delay, so that quiet times cost few inserts;
 * a full batch does not wait. The catalog is read after the records: no event meets a catalog older
 * than its own arrival.
 */
export async function fetchBatch(
  sources: Sources,
  command: Extract<Command, { kind: 'fetch' }>,
): Promise<Outcome> {
  const { from, catalogVersionMin } = command;
  const gathered: Gathered = { records: [], events: 0, bytes: 0 };
  let hasMore = await readOn(sources, gathered, { fromOffset: from, waitMs: IDLE_WAIT_MS });
  const deadline = performance.now() + sources.limits.flushDelayMs;
  const isFull = (): boolean =>
    gathered.events >= sources.limits.eventsMax || gathered.bytes >= BATCH_BYTES_MAX;
  while (hasMore && !isFull() && !sources.signal.aborted) {
    const waitMs = deadline - performance.now();
    if (waitMs <= 0) break;
    hasMore = await readOn(sources, gathered, { fromOffset: nextOffsetOf(gathered, from), waitMs });
  }
  const catalog = await sources.catalog.latest(catalogVersionMin);
  return { kind: 'fetched', records: gathered.records, catalog };
}

/**
 * Reads a promised batch again: exactly the records below its end, with the catalog it was promised
 * with.
 */
export async function refetchBatch(
  sources: Sources,
  command: Extract<Command, { kind: 'refetch' }>,
): Promise<Outcome> {
  const { from, intent } = command;
  const gathered: Gathered = { records: [], events: 0, bytes: 0 };
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
