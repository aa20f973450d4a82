import { correctedStretches } from '../../domain/usage/event-correction.js';
import { Refusal, Refused } from '../../records/refusal.js';
import type { CellQuery } from '../store/cell-query.js';
import type { UsageReader } from '../store/usage-reader.js';
import { placedOf } from '../store/usage-statement.js';
import type { ExpiredEvents, RawEventsQuery } from './expired-events.js';

type Placed = Parameters<typeof placedOf>[0];

/**
 * What raw events answer of these queries: ends inside a minute, narrowed and ad-hoc ones, and what
 * was corrected.
 */
function questionsOf(batch: Placed): readonly RawEventsQuery[] {
  return placedOf(batch).flatMap(
    ({ query: { subject }, parts: { events, minutes }, corrected }) => {
      const ofMinutes = minutes === null ? [] : correctedStretches(corrected, minutes);
      return [...events, ...ofMinutes].map((range) => ({ eventName: subject.eventName, range }));
    },
  );
}

/**
 * What was asked needs minutes only; events that came in meanwhile made it need raw events. Asked
 * again it can be answered.
 */
function refuseForNow(error: unknown): never {
  if (!(error instanceof Refused)) throw error;
  throw new Refused(
    new Refusal(
      'service_unavailable',
      'late events came in while the answer was computed, and raw events of that time have been removed: try again',
    ),
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
    read: (batch) => {
      const answer = checked(batch.environment, batch, () => reader.read(batch));
      const isFirst = batch.bound === null || batch.bound.eventsFrom.size === 0;
      return isFirst ? answer : answer.catch(refuseForNow);
    },
    readEverybody: (environment, queries) =>
      checked(environment, unbounded(queries), () => reader.readEverybody(environment, queries)),
  };
}
