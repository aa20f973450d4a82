import { parseEvent, type MeterPlan, type RecordPlan } from './scenario-plan.js';

/** What must come out of one partition. An event is named by its position among all its events. */
export type ExpectedCounts = {
  /** Position of the first event of each record, and the end. */
  readonly positions: readonly number[];
  /** Offset of the record of each event. */
  readonly offsets: readonly number[];
  /** Whether the event is the first of its id, so that it counts. */
  readonly isFirst: readonly boolean[];
  /** By meter: whether the event matches. */
  readonly matches: readonly (readonly boolean[])[];
  /** By meter: number of distinct events that match below each offset. */
  readonly matchesBelow: readonly (readonly number[])[];
};

/**
 * Counts by the plan alone and in the plainest way, with nothing of the product: a mistake in
 * decoding, duplicates or matching must not be in the expectation as well.
 */
export function expectedCounts(
  log: readonly RecordPlan[],
  meters: readonly MeterPlan[],
): ExpectedCounts {
  const events = log.flatMap((record, offset) =>
    record.map((event) => ({ offset, ...parseEvent(event) })),
  );
  const ids = events.map(({ id }) => id);
  const isFirst = ids.map((id, position) => ids.indexOf(id) === position);
  const matches = meters.map(({ isProOnly, isElsewhere }) =>
    events.map(({ isPro }) => isElsewhere !== true && (isPro || !isProOnly)),
  );
  const boundaries = [...log.keys(), log.length];
  return {
    positions: boundaries.map((end) => events.filter(({ offset }) => offset < end).length),
    offsets: events.map(({ offset }) => offset),
    isFirst,
    matches,
    matchesBelow: matches.map((ofMeter) =>
      boundaries.map(
        (end) =>
          events.filter(
            ({ offset }, at) => offset < end && isFirst[at] === true && ofMeter[at] === true,
          ).length,
      ),
    ),
  };
}
