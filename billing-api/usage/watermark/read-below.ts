import type { InstantMs } from '../../../contract/instant.js';
import type { PartitionEnd } from '../../domain/usage/watermark.js';
import type { CellSeries } from '../../domain/usage/aggregation-spec.js';
import type { ReadDependencies } from '../../records/unit.js';
import { readCheckpoints } from './checkpoints.js';
import type { CellQuery, CellQueryBatch } from '../store/cell-query.js';
import type { UsageReader } from '../store/usage-reader.js';

type BelowDependencies = ReadDependencies & { readonly usage: UsageReader };

/**
 * Late events that come while we read make a query be read again, each time with fewer minutes;
 * after so many times it reads no minutes at all.
 */
const READINGS_WITH_MINUTES_MAX = 3;

/**
 * The minutes in which events at or above the ends were found, by query. Most often none can be
 * there, since the aggregator intends a batch before it stores an event of it: then only
 * PostgreSQL is asked.
 */
async function findLateEvents(
  { database, usage }: BelowDependencies,
  batch: CellQueryBatch,
  ends: readonly PartitionEnd[],
): Promise<readonly (InstantMs | null)[]> {
  const { all } = await readCheckpoints(database);
  // A partition that has begun since the ends were read counts nothing.
  const begun = all.map((place) => ({ ...place, countedBelow: 0 }));
  const present = new Map(ends.map((end) => [`${end.partition}:${end.log}`, end]));
  const current = begun.map((place) => present.get(`${place.partition}:${place.log}`) ?? place);
  const isQuiet = all.every(
    ({ nextOffset, isIntended }, index) =>
      !isIntended && nextOffset === current[index]?.countedBelow,
  );
  if (isQuiet) return batch.queries.map(() => null);
  return usage.findLateEvents(batch, current);
}

/**
 * A reader that counts exactly the events below the ends, however much is being written
 * (docs/domain.md 13.1): minutes first, then whether events at or above the ends lie in them. From
 * the first such minute on a query is read again from the events themselves.
 */
export function readerBelow(
  dependencies: BelowDependencies,
  ends: readonly PartitionEnd[],
): Pick<UsageReader, 'read'> {
  const { usage } = dependencies;
  return {
    read: async (batch) => {
      const answers = new Map<CellQuery, readonly CellSeries[]>();
      const eventsFrom = new Map<CellQuery, InstantMs>();
      let open = batch.queries;
      for (let reading = 1; open.length > 0; reading += 1) {
        const part = { ...batch, queries: open, bound: { ends, eventsFrom } };
        const found = await usage.read(part);
        if (found === null) return null;
        for (const [index, query] of open.entries()) answers.set(query, found[index] ?? []);
        const late = await findLateEvents(dependencies, part, ends);
        const again = open.filter((_, index) => late[index] !== null);
        for (const [index, query] of open.entries()) {
          const minute = late[index] ?? null;
          if (minute === null) continue;
          const isLast = reading >= READINGS_WITH_MINUTES_MAX;
          eventsFrom.set(query, isLast ? Number.NEGATIVE_INFINITY : minute);
        }
        open = again;
      }
      return batch.queries.map((query) => answers.get(query) ?? []);
    },
  };
}
