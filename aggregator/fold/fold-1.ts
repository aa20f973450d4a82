/**
 * Fold version 1, frozen: it counts, and knows neither values nor groups nor accepted events. A
 * batch that a release of that version promised and did not finish is folded with it again, since
 * only the same bytes have the digest of the promise (architecture.md 3.1).
 */
import { minuteOf } from '../../contract/instant.js';
import type { MeterDefinition } from '../../contract/meter.js';
import { customerKeyOfEvent } from '../../contract/usage-event.js';
import type { Candidate } from './candidate.js';
import { encodeEventTables, encodeLines, markerOf, type EncodedRows } from './encode-rows.js';
import { deadLettersOf } from './fold-batch.js';
import type { Fold } from './fold-versions.js';
import { metersOfEvent, type MeterIndex } from './meter-index.js';
import { separateRepeats } from './separate-repeats.js';

type Delta1 = {
  readonly meter: MeterDefinition;
  readonly customerKey: string;
  readonly minuteMs: number;
  readonly source: string;
  eventCount: number;
};

function addToDeltas1(
  deltas: Map<string, Delta1>,
  meters: MeterIndex,
  { environment, event }: Candidate,
): boolean {
  const matching = metersOfEvent(meters, environment, event);
  const customerKey = customerKeyOfEvent(event);
  const minuteMs = minuteOf(event.timestampMs);
  for (const { definition: meter } of matching) {
    const key = `${meter.generation}|${minuteMs}|${customerKey.length}|${customerKey}${event.source}`;
    const delta = deltas.get(key);
    if (delta !== undefined) delta.eventCount += 1;
    else deltas.set(key, { meter, customerKey, minuteMs, source: event.source, eventCount: 1 });
  }
  return matching.length > 0;
}

function encodeUsage1(
  range: Parameters<typeof markerOf>[0],
  deltas: readonly Delta1[],
): EncodedRows {
  const marker = markerOf(range);
  const rows = deltas.map(({ meter, customerKey, minuteMs, source, eventCount }) => [
    meter.environment.tenantId,
    meter.environment.environmentId,
    customerKey,
    meter.meterId,
    meter.generation,
    minuteMs / 1000,
    source,
    '',
    eventCount,
  ]);
  const markerRow = ['', '', '', '#batch', 0, 0, marker.source, marker.groupKey, 1];
  return encodeLines([...rows, markerRow], (row) => row);
}

/** @see the head of this file. */
export const foldVersion1: Fold = ({ range, records, seen, meters }) => {
  const { unique, repeats } = separateRepeats(records, seen);
  const deltas = new Map<string, Delta1>();
  const countedEvents = unique.filter((event) => addToDeltas1(deltas, meters, event)).length;
  const deadLetters = deadLettersOf(records);
  const folded = { unique, repeats, deadLetters, countedEvents, unreadable: new Map() };
  const usage = encodeUsage1(range, [...deltas.values()]);
  return { folded, encoded: { ...encodeEventTables(range, folded), usage } };
};
