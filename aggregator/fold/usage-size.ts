import { MINUTE_CHARACTERS_MAX } from '../../contract/usage-minute.js';
import { customerKeyOfEvent, type UsageEvent } from '../../contract/usage-event.js';
import type { Candidate, DecodedRecord } from './candidate.js';
import type { IndexedMeter, MeterIndex } from './meter-index.js';
import type { UsageDelta } from './usage-deltas.js';

/** Usage rows, the characters of their text, and what their expressions cost, in microseconds. */
export type UsageSize = {
  readonly rows: number;
  readonly characters: number;
  readonly cost: number;
};

/** The row with the count of accepted events of a record, or the marker of a batch. */
export const ONE_ROW: UsageSize = { rows: 1, characters: MINUTE_CHARACTERS_MAX, cost: 0 };

/** A hash with its quotes and its comma. */
const HASH_CHARACTERS = 35;

const NEEDS_ESCAPE = /["\\\p{Cc}\p{Surrogate}]/u;

/** Characters of a text in JSON, which writes a control character as six. */
function encodedLength(text: string): number {
  return NEEDS_ESCAPE.test(text) ? JSON.stringify(text).length : text.length;
}

const NONE: readonly IndexedMeter[] = [];

type Streams = {
  readonly count: number;
  readonly groupedBy: readonly string[];
  readonly cost: number;
};

/** Only the rules of expressions are compiled for it. */
function costOf({ definition, rule }: IndexedMeter): number {
  return definition.aggregation.expression === null ? 0 : rule().cost;
}

function streamsOf(meters: readonly IndexedMeter[]): Streams {
  const groupedBy = meters.map(({ definition }) => definition.aggregation.groupBy);
  const cost = meters.reduce((sum, meter) => sum + costOf(meter), 0);
  return {
    count: meters.length,
    cost,
    groupedBy: groupedBy.filter((property) => property !== null),
  };
}

function sizeOfEvent(event: UsageEvent, { count, groupedBy, cost }: Streams): UsageSize {
  if (count === 0) return { rows: 0, characters: 0, cost };
  const { source, eventId, properties } = event;
  const texts = [customerKeyOfEvent(event), source, eventId];
  const shared = texts.reduce((sum, text) => sum + encodedLength(text), MINUTE_CHARACTERS_MAX);
  let characters = count * shared;
  for (const property of groupedBy) {
    const text = Object.hasOwn(properties, property) ? properties[property] : undefined;
    if (text !== undefined) characters += encodedLength(text);
  }
  return { rows: count, characters, cost };
}

function isSamePart(one: Candidate, other: Candidate): boolean {
  return one.environment === other.environment && one.receivedAtMs === other.receivedAtMs;
}

/** How much text the usage of a batch is at most, once it is folded. */
export function charactersOfDeltas(deltas: readonly UsageDelta[]): number {
  let characters = 0;
  for (const { customerKey, source, groupKey, cell } of deltas) {
    const texts = [customerKey, source, groupKey];
    if (cell.latest !== null) texts.push(cell.latest.eventId);
    characters += texts.reduce((sum, text) => sum + encodedLength(text), MINUTE_CHARACTERS_MAX);
    // The first one is among what every row may have.
    characters += Math.max(0, cell.uniques.size - 1) * HASH_CHARACTERS;
  }
  return characters;
}

/**
 * Tells how much usage a record adds at most: a row for each event and each stream of its event
 * name, whatever their filters say, and its counts of accepted events; and what it costs at most.
 */
export function createUsageSizer(meters: MeterIndex): (record: DecodedRecord) => UsageSize {
  const known = new Map<readonly IndexedMeter[], Streams>();
  return ({ candidates }) => {
    let { rows, characters, cost } = ONE_ROW;
    let previous = candidates[0];
    for (const candidate of candidates) {
      const { event, meterKey } = candidate;
      // Each part of a merged record may add to another count of accepted events.
      if (previous !== undefined && !isSamePart(previous, candidate)) {
        rows += ONE_ROW.rows;
        characters += ONE_ROW.characters;
      }
      previous = candidate;
      const named = meters.get(meterKey) ?? NONE;
      const streams = known.get(named) ?? streamsOf(named);
      known.set(named, streams);
      const size = sizeOfEvent(event, streams);
      rows += size.rows;
      characters += size.characters;
      cost += size.cost;
    }
    return { rows, characters, cost };
  };
}
