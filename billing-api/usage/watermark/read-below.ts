import type { InstantMs } from '../../../contract/instant.js';
import { mustGet, zip } from '../../../runtime/failure.js';
import { partitionName, type PartitionEnd } from '../../domain/usage/watermark.js';
import type { CellSeries } from '../../domain/usage/aggregation-spec.js';
import type { ReadDependencies } from '../../records/unit.js';
import { readCheckpoints } from './checkpoints.js';
import type { CellQuery, CellQueryBatch } from '../store/cell-query.js';
import type { UsageReader } from '../store/usage-reader.js';

type BelowDependencies = Pick<ReadDependencies, 'database'> & { readonly usage: UsageReader };

/**
 * Late events that come while we read make a query be read again, each time with fewer minutes;
 * after so many times it reads no minutes at all.
 */
const READINGS_WITH_MINUTES_MAX = 3;

/**
 * Where every partition that has begun counts up to; null while no event at or above that can be
 * there. The aggregator intends a batch before it stores an event of it, so PostgreSQL knows.
 */
async function endsIfExceeded(
  database: ReadDependencies['database'],
  ends: readonly PartitionEnd[],
): Promise<readonly PartitionEnd[] | null> {
  const { all } = await readCheckpoints(database);
  const known = new Map(ends.map((end) => [partitionName(end), end.countedBelow]));
  let isExceeded = false;
  const current = all.map(({ log, partition, nextOffset, isIntended }) => {
    // Absent means zero: nothing counts of a partition that began after the ends were read.
    const countedBelow = known.get(partitionName({ log, partition })) ?? 0;
    isExceeded ||= isIntended || nextOffset > countedBelow;
    return { log, partition, countedBelow };
  });
  return isExceeded ? current : null;
}

/**
 * For each query, the first of the minutes it read that holds an event at or above the ends; null
 * when none does.
 */
async function findLateEvents(
  { database, usage }: BelowDependencies,
  batch: CellQueryBatch,
  ends: readonly PartitionEnd[],
): Promise<readonly (InstantMs | null)[]> {
  const current = await endsIfExceeded(database, ends);
  return current === null ? batch.queries.map(() => null) : usage.findLateEvents(batch, current);
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
        const late = await findLateEvents(dependencies, part, ends);
        const isLast = reading >= READINGS_WITH_MINUTES_MAX;
        const again: CellQuery[] = [];
        for (const [query, [series, minute]] of zip(open, zip(found, late))) {
          answers.set(query, series);
          if (minute === null) continue;
          eventsFrom.set(query, isLast ? Number.NEGATIVE_INFINITY : minute);
          again.push(query);
        }
        open = again;
      }
      return batch.queries.map((query) => mustGet(answers, query, 'the cells of a query'));
    },
  };
}
