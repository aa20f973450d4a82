import type { EventLogReader } from '../../event-log/interface/event-log.js';
import type { OutcomeOf } from '../protocol/expected-outcomes.js';
import type { CommandOf } from '../protocol/state.js';
import type { CatalogReader } from './catalog.js';
import { DecodedRecords } from './decoded-records.js';

type Sources = {
  readonly partition: number;
  readonly log: Pick<EventLogReader, 'read'>;
  readonly catalog: Pick<CatalogReader, 'load'>;
  /** Ends a wait for records. */
  readonly signal: AbortSignal;
};

/** How long one read waits: the records were in the log before. */
const WAIT_MS = 1_000;
/** Bytes of one read. */
const READ_BYTES_MAX = 16 * 1024 * 1024;

/** Reads the batch of an intent again: exactly its records, with the catalog version it names. */
export async function refetchBatch(
  { partition, log, catalog, signal }: Sources,
  { from, intent }: CommandOf<'refetch'>,
): Promise<OutcomeOf<'refetch'>> {
  const gathered = new DecodedRecords(from);
  let hasMore = true;
  while (hasMore && gathered.end < intent.end && !signal.aborted) {
    const records = await log.read({
      partition,
      fromOffset: gathered.end,
      recordsMax: intent.end - gathered.end,
      bytesMax: READ_BYTES_MAX,
      waitMs: WAIT_MS,
    });
    hasMore = records.length > 0;
    gathered.add(records.filter((record) => record.offset < intent.end));
  }
  const catalogOfIntent = await catalog.load(intent.catalogVersion);
  return { kind: 'fetched', records: gathered.records, catalog: catalogOfIntent };
}
