import { AGGREGATIONS, forEachAggregation, type AggregationType } from './aggregation.js';
import type { ValueRule } from './event-value.js';
import {
  emptyUsageCell,
  MINUTE_VALUES,
  type EventTally,
  type UsageCell,
  type ValuedTally,
} from './minute-values.js';

type AddTally = (cell: UsageCell, tally: ValuedTally) => void;

/** What each type adds to a cell beside the counts of events. */
const ADDITIONS = forEachAggregation(({ values }): readonly AddTally[] =>
  values.flatMap((name) => MINUTE_VALUES[name].add ?? []),
);

/** A cell without events, to be filled by rules of its type only. */
export function createUsageCell(type: AggregationType): UsageCell {
  return emptyUsageCell({ uniques: AGGREGATIONS[type].values.includes('uniques') });
}

/** Adds events of one text combination to a cell. The order of tallies changes nothing. */
export function addTally(cell: UsageCell, rule: ValueRule, tally: EventTally): void {
  cell.eventCount += tally.count;
  if (AGGREGATIONS[rule.type].counts === 'event') return;
  const read = rule.valueOf(tally.texts);
  if (read.isUnreadable) cell.unreadableCount += tally.count;
  const valued = { ...tally, ...read };
  for (const add of ADDITIONS[rule.type]) add(cell, valued);
}
