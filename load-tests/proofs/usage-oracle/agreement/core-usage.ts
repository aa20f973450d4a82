import { coarserOf, windowsWithin } from '../../../../billing-api/domain/calendar/usage-windows.js';
import { aggregateUsage } from '../../../../billing-api/domain/usage/aggregate-usage.js';
import {
  NO_SPLIT,
  type AggregationSpec,
  type CellSeries,
} from '../../../../billing-api/domain/usage/aggregation-spec.js';
import { windowCellOf } from '../../../../billing-api/domain/usage/window-cell.js';
import { plain } from '../../../../contract/number/decimal.js';
import { compileValueRule } from '../../../../contract/event-value.js';
import type { Interval } from '../../../../contract/instant.js';
import { addTally, createUsageCell } from '../../../../contract/usage-cell.js';
import { propertyOf, type OracleEvent } from '../usage-event.js';
import type { UsageAnswer, UsageQuestion } from '../usage.js';
import { toText } from '../fraction.js';
import type { MeterSpec } from './random-case.js';

/** Windows that an answer is cut into; texts of a COUNT_UNIQUE are told apart in each. */
type Cut = { readonly windows: readonly Interval[]; readonly isNeverReset: boolean };

function windowSizeOf({ windowSize, meter }: UsageQuestion) {
  if (windowSize === null || meter.bucketSize === null) return windowSize;
  return coarserOf(windowSize, meter.bucketSize);
}

function intervalOf({ range: { start, end } }: UsageQuestion): Interval {
  return { startMs: start, endMs: end };
}

/** What makes a text count once: its window, or the history up to the end of that. */
function scopeOf({ timestamp }: OracleEvent, { windows, isNeverReset }: Cut): number | null {
  const last = windows.at(-1);
  if (last === undefined || timestamp >= last.endMs) return null;
  if (isNeverReset) return 0;
  const index = windows.findIndex(
    ({ startMs, endMs }) => startMs <= timestamp && timestamp < endMs,
  );
  return index < 0 ? null : index;
}

/** A cell for each event, in the order of time; the store would have added up whole minutes. */
function seriesOf(
  spec: MeterSpec,
  question: UsageQuestion,
  { events, cut }: { readonly events: readonly OracleEvent[]; readonly cut: Cut },
): readonly CellSeries[] {
  const { type, origin, multiplier, buckets } = spec;
  const { field = null, expression = null } = origin;
  const { groupBy } = buckets;
  const { meter } = question;
  const factor = meter.multiplier === null ? null : toText(meter.multiplier);
  const rule = compileValueRule(
    { type, field, expression, multiplier: multiplier === null ? null : factor, groupBy },
    (text) => text,
  );
  const seen = new Set<string>();
  return events
    .toSorted((left, right) => left.timestamp - right.timestamp)
    .map((event): CellSeries => {
      const texts = rule.properties.map((name) => propertyOf(event, name));
      const cell = createUsageCell(type);
      const { timestamp: atMs, receipt: receivedMs, eventId } = event;
      const place = { atMs, receivedMs, eventId };
      addTally(cell, rule, { texts, count: 1, timeSumMs: atMs, place });
      const scope = scopeOf(event, cut);
      const [unique] = cell.uniques;
      const key = JSON.stringify([scope, unique]);
      const isNew = scope !== null && unique !== undefined && !seen.has(key);
      if (isNew) seen.add(key);
      return {
        source: '',
        group: meter.groupBy === null ? '' : (propertyOf(event, meter.groupBy) ?? ''),
        texts: [],
        slots: [atMs],
        cells: [{ ...windowCellOf(type, cell), uniqueCount: isNew ? 1 : 0 }],
      };
    });
}

/** What the core makes of the counted events of a question about a meter. */
export function coreAnswer(
  spec: MeterSpec,
  question: UsageQuestion,
  events: readonly OracleEvent[],
): UsageAnswer {
  const { meter, zone: timezone, anchor: anchorMs } = question;
  const range = intervalOf(question);
  const isNeverReset = meter.reset === 'NEVER';
  const grid = (size: NonNullable<UsageQuestion['windowSize']>) =>
    windowsWithin(range, { size, timezone, anchorMs });
  const aggregation: AggregationSpec = {
    type: meter.type,
    resetUsage: meter.reset,
    range,
    buckets: meter.bucketSize === null ? null : grid(meter.bucketSize),
    hasGroups: meter.groupBy !== null,
  };
  const partsOf = (windows: readonly Interval[], group: boolean) =>
    aggregateUsage(
      aggregation,
      { windows, split: { ...NO_SPLIT, group } },
      seriesOf(spec, question, { events, cut: { windows, isNeverReset } }),
    );
  const [whole] = partsOf([range], false);
  const value = whole?.windows[0];
  const size = windowSizeOf(question);
  const hasGroups = meter.groupBy !== null;
  const parts =
    size === null && !hasGroups ? [] : partsOf(size === null ? [range] : grid(size), hasGroups);
  return {
    value: value === undefined ? 'nothing' : plain(value.value),
    results: parts.flatMap(({ group, windows }) =>
      windows.map(({ window, value: of }) => ({
        start: window.startMs,
        end: window.endMs,
        group: meter.groupBy === null ? null : { [`properties.${meter.groupBy}`]: group },
        value: plain(of),
      })),
    ),
  };
}
