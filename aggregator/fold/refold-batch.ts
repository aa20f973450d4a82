import { assertPresent, zip } from '../../runtime/failure.js';
import type { BatchRange } from './batch-tables.js';
import type { Candidate } from './candidate.js';
import { encodeDelta, encodeRecords, encodeUsage, type EncodedBatch } from './encode-rows.js';
import type { FoldedBatch } from './fold-batch.js';
import {
  compareMeters,
  metersOfEvent,
  metersWithout,
  type IndexedMeter,
  type MeterIndex,
} from './meter-index.js';
import { usageDeltas, type UsageDelta } from './usage-deltas.js';

/**
 * A folded batch and its lines, kept until its intent is written: when the intent is refused
 * because of a newer catalog, all is kept that this catalog does not change.
 */
export type KeptFold = {
  readonly range: BatchRange;
  readonly folded: FoldedBatch;
  readonly encoded: EncodedBatch;
  /** The line of each delta. */
  readonly deltaLines: readonly string[];
  /** The events of each meter key, as ascending positions among the unique ones. */
  readonly positions: ReadonlyMap<string, readonly number[]>;
};

function positionsByKey(unique: readonly Candidate[]): ReadonlyMap<string, readonly number[]> {
  const positions = new Map<string, number[]>();
  for (const [position, { meterKey }] of unique.entries()) {
    const known = positions.get(meterKey);
    if (known === undefined) positions.set(meterKey, [position]);
    else known.push(position);
  }
  return positions;
}

/** Encodes a folded batch, and keeps what `refold` needs of it. */
export function keepFold(range: BatchRange, folded: FoldedBatch): KeptFold {
  const deltaLines = folded.deltas.map(encodeDelta);
  const usage = encodeUsage(range, folded, deltaLines);
  const encoded = { ...encodeRecords(range, folded), usage };
  return { range, folded, encoded, deltaLines, positions: positionsByKey(folded.unique) };
}

/** A change from one catalog to another. */
type Change = { readonly from: MeterIndex; readonly to: MeterIndex };

/** What a change means for the events of one key. */
type Difference = {
  readonly key: string;
  readonly positions: readonly number[];
  readonly before: readonly IndexedMeter[];
  readonly after: readonly IndexedMeter[];
  readonly added: readonly IndexedMeter[];
  readonly removed: readonly IndexedMeter[];
};

/** The keys of a batch whose meters are not the same in both catalogs. */
function differencesOf({ positions }: KeptFold, { from, to }: Change): readonly Difference[] {
  const differences: Difference[] = [];
  for (const [key, ofKey] of positions) {
    // Absent means none: no meter counts the events of a key that a catalog does not name.
    const [before, after] = [from.get(key) ?? [], to.get(key) ?? []];
    const added = metersWithout(after, before);
    const removed = metersWithout(before, after);
    if (added.length + removed.length === 0) continue;
    differences.push({ key, positions: ofKey, before, after, added, removed });
  }
  return differences;
}

/** Whether all events of a batch count on the same meters in another catalog. */
export function countsTheSame(kept: KeptFold, change: Change): boolean {
  return differencesOf(kept, change).length === 0;
}

/** How many of the events at these positions match any of the meters. */
function countMatching(
  unique: readonly Candidate[],
  positions: readonly number[],
  meters: readonly IndexedMeter[],
): number {
  let count = 0;
  for (const position of positions) {
    const candidate = assertPresent(unique[position], 'the event at a position');
    if (metersOfEvent(meters, candidate.event).length > 0) count += 1;
  }
  return count;
}

type Row = { readonly delta: UsageDelta; readonly line: string };

/** The order of `usageDeltas`: by the first event of a row, and by meter for one event. */
function compareRows({ delta: left }: Row, { delta: right }: Row): number {
  return left.firstAt - right.firstAt || compareMeters(left.meter, right.meter);
}

/** The rows of meters that both catalogs have, and of those that came with the later one. */
function rowsOf({ folded, deltaLines }: KeptFold, differences: readonly Difference[]): Row[] {
  const removed = new Set<number>();
  const rows: Row[] = [];
  for (const { key, positions, added, removed: gone } of differences) {
    for (const { definition } of gone) removed.add(definition.generation);
    const { deltas } = usageDeltas(folded.unique, new Map([[key, added]]), positions);
    for (const delta of deltas) rows.push({ delta, line: encodeDelta(delta) });
  }
  for (const [delta, line] of zip(folded.deltas, deltaLines)) {
    if (!removed.has(delta.meter.generation)) rows.push({ delta, line });
  }
  // The rows that are kept are in order already, which costs a sort little.
  return rows.sort(compareRows);
}

/** How many more events match any meter after a change. */
function countMore(unique: readonly Candidate[], differences: readonly Difference[]): number {
  let count = 0;
  for (const { positions, before, after } of differences) {
    count += countMatching(unique, positions, after) - countMatching(unique, positions, before);
  }
  return count;
}

/**
 * The batch as `keepFold` would make it with another catalog, byte for byte. Only the meters in
 * which the catalogs differ for its events are folded and encoded: while ten meters a second are
 * made, a batch that is folded as a whole is refused as often (docs/architecture.md 3.4).
 */
export function refold(kept: KeptFold, change: Change): KeptFold {
  const { range, folded } = kept;
  const differences = differencesOf(kept, change);
  const rows = rowsOf(kept, differences);
  const deltas = rows.map(({ delta }) => delta);
  const countedEvents = folded.countedEvents + countMore(folded.unique, differences);
  const deltaLines = rows.map(({ line }) => line);
  const usage = encodeUsage(range, folded, deltaLines);
  const encoded = { ...kept.encoded, usage };
  return { ...kept, folded: { ...folded, deltas, countedEvents }, encoded, deltaLines };
}
