import { AGGREGATIONS, type AggregationType } from '../../contract/aggregation.js';
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
  return aggregation.groupBy === null ? '' : (textOf(event, aggregation.groupBy) ?? '');
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

/** Adds one event to the deltas of every meter it matches; says whether there was any. */
function addToDeltas(
  deltas: Map<string, UsageDelta>,
  meters: MeterIndex,
  candidate: Candidate,
): boolean {
  const { environment, event } = candidate;
  const matching = metersOfEvent(meters, environment, event);
  if (matching.length === 0) return false;
  const minuteMs = minuteOf(event.timestampMs);
  const placed = { candidate, customerKey: customerKeyOfEvent(event), minuteMs };
  for (const meter of matching) {
    const { definition } = meter;
    const groupKey = groupOf(event, definition);
    const key = deltaKey(definition, placed, groupKey);
    let delta = deltas.get(key);
    if (delta === undefined) {
      const cell = createUsageCell(definition.aggregation.type);
      const { customerKey } = placed;
      delta = { meter: definition, customerKey, minuteMs, source: event.source, groupKey, cell };
      deltas.set(key, delta);
    }
    addToCell(delta.cell, meter, placed);
  }
  return true;
}

export type UsageOfBatch = {
  readonly deltas: readonly UsageDelta[];
  /** Events that matched at least one meter. */
  readonly countedEvents: number;
};

/** What events add to usage, in order of appearance. */
export function usageDeltas(unique: readonly Candidate[], meters: MeterIndex): UsageOfBatch {
  const deltas = new Map<string, UsageDelta>();
  let countedEvents = 0;
  for (const candidate of unique) {
    if (addToDeltas(deltas, meters, candidate)) countedEvents += 1;
  }
  return { deltas: [...deltas.values()], countedEvents };
}

/** Number of values of each type that could not be read. */
export function unreadableValues(
  deltas: readonly UsageDelta[],
): ReadonlyMap<AggregationType, number> {
  const counts = new Map<AggregationType, number>();
  for (const { meter, cell } of deltas) {
    if (cell.unreadableCount === 0) continue;
    const { type } = meter.aggregation;
    counts.set(type, (counts.get(type) ?? 0) + cell.unreadableCount);
  }
  return counts;
}
