import type { CellQuery } from '../store/cell-query.js';
import type { UsageReader } from '../store/usage-reader.js';
import { placedOf } from '../store/usage-statement.js';
import type { ExpiredEvents, RawEventsQuery } from './expired-events.js';

type Placed = Parameters<typeof placedOf>[0];

/** What raw events answer of these queries: ends inside a minute, narrowed and ad-hoc ones. */
function questionsOf(batch: Placed): readonly RawEventsQuery[] {
  return placedOf(batch).flatMap(({ query: { subject }, parts }) =>
    parts.events.map((range) => ({ eventName: subject.eventName, range })),
  );
}

/**
 * A reader that refuses what it cannot answer because retention has removed raw events.
 * Whole minutes need none. @throws Refused.
 */
export function refuseExpiredUsage(
  reader: UsageReader,
  { assertStored }: Pick<ExpiredEvents, 'assertStored'>,
): UsageReader {
  const checked = async <T>(
    environment: Parameters<typeof assertStored>[0],
    batch: Placed,
    answer: () => Promise<T>,
  ): Promise<T> => {
    await assertStored(environment, questionsOf(batch));
    return answer();
  };
  const unbounded = (queries: readonly CellQuery[]): Placed => ({ queries, bound: null });
  return {
    ...reader,
    read: (batch) => checked(batch.environment, batch, () => reader.read(batch)),
    readEverybody: (environment, queries, excluded) =>
      checked(environment, unbounded(queries), () =>
        reader.readEverybody(environment, queries, excluded),
      ),
  };
}
