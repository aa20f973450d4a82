import { AGGREGATIONS } from '../../contract/aggregation.js';
import { minuteOf, type InstantMs } from '../../contract/instant.js';
import type { MeterDefinition } from '../../contract/meter.js';
import type { EventTally, UsageCell } from '../../contract/minute-values.js';
import { addTally, createUsageCell } from '../../contract/usage-cell.js';
import type { UsageMinute } from '../../contract/usage-minute.js';
import { customerKeyOfEvent, type UsageEvent } from '../../contract/usage-event.js';
import type { ValueRule } from '../../contract/event-value.js';
import type { Candidate } from './candidate.js';
import { metersOfEvent, type IndexedMeter, type MeterIndex } from './meter-index.js';

/** One usage row that a batch adds. */
export type UsageDelta = UsageMinute & { readonly meter: MeterDefinition };

type Placed = {
  readonly candidate: Candidate;
  readonly customerKey: string;
  readonly minuteMs: InstantMs;
};

function textOf({ properties }: UsageEvent, property: string): string | null {
  return Object.hasOwn(properties, property) ? (properties[property] ?? null) : null;
}

function groupOf(event: UsageEvent, { aggregation }: MeterDefinition): string {
  if (aggregation.groupBy === null) return '';
  // Absent means empty: an event without the property is in the group of the empty text.
  return textOf(event, aggregation.groupBy) ?? '';
}

/** Lengths keep customer, source and group apart whatever characters they hold. */
function deltaKey({ generation }: MeterDefinition, placed: Placed, group: string): string {
  const { customerKey, minuteMs } = placed;
  const { source } = placed.candidate.event;
  const texts =
    group === ''
      ? `${customerKey.length}|${customerKey}${source}`
      : `${customerKey.length}|${source.length}|${customerKey}${source}${group}`;
  return `${generation}|${minuteMs}|${texts}`;
}

function tallyOf({ candidate, minuteMs }: Placed, rule: ValueRule): EventTally {
  const { event, receivedAtMs } = candidate;
  return {
    texts: rule.properties.map((property) => textOf(event, property)),
    count: 1,
    timeSumMs: event.timestampMs - minuteMs,
    place: { atMs: event.timestampMs, receivedMs: receivedAtMs, eventId: event.eventId },
  };
}

function addToCell(cell: UsageCell, meter: IndexedMeter, placed: Placed): void {
  // Counting needs no texts, and most meters count.
  if (AGGREGATIONS[meter.definition.aggregation.type].counts === 'event') {
    cell.eventCount += 1;
    return;
  }
  const rule = meter.rule();
  addTally(cell, rule, tallyOf(placed, rule));
}

function emptyDelta(meter: MeterDefinition, placed: Placed, groupKey: string): UsageDelta {
  const { candidate, customerKey, minuteMs } = placed;
  const { source } = candidate.event;
  const cell = createUsageCell(meter.aggregation.type);
  return { meter, customerKey, minuteMs, source, groupKey, cell };
}

/** Adds one event to the deltas of these meters, each of which it matches. */
function addToDeltas(
  deltas: Map<string, UsageDelta>,
  matching: readonly IndexedMeter[],
  candidate: Candidate,
): void {
  const { event } = candidate;
  const customerKey = customerKeyOfEvent(event);
  const placed = { candidate, customerKey, minuteMs: minuteOf(event.timestampMs) };
  for (const meter of matching) {
    const groupKey = groupOf(event, meter.definition);
    const key = deltaKey(meter.definition, placed, groupKey);
    let delta = deltas.get(key);
    if (delta === undefined) {
      delta = emptyDelta(meter.definition, placed, groupKey);
      deltas.set(key, delta);
    }
    addToCell(delta.cell, meter, placed);
  }
}

export type UsageOfBatch = {
  readonly deltas: readonly UsageDelta[];
  /** Events that matched at least one meter. */
  readonly countedEvents: number;
};

/** What the events add to usage; the rows are in the order of their first events. */
export function usageDeltas(unique: readonly Candidate[], meters: MeterIndex): UsageOfBatch {
  const deltas = new Map<string, UsageDelta>();
  let countedEvents = 0;
  for (const candidate of unique) {
    // Absent means none: no meter counts events of this name.
    const matching = metersOfEvent(meters.get(candidate.meterKey) ?? [], candidate.event);
    if (matching.length === 0) continue;
    countedEvents += 1;
    addToDeltas(deltas, matching, candidate);
  }
  return { deltas: [...deltas.values()], countedEvents };
}
