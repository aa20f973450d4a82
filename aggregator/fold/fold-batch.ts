import { minuteOf, type InstantMs } from '../../contract/instant.js';
import type { MeterDefinition } from '../../contract/meter.js';
import { customerKeyOfEvent } from '../../contract/usage-event.js';
import type { Candidate, DeadLetter, DecodedRecord } from './candidate.js';
import { metersOfEvent, type MeterIndex } from './meter-index.js';

/** What is stored of an id that has been counted: enough to tell a repeat from a conflict. */
export type StoredId = {
  readonly payloadHash: string;
  readonly timestampMs: InstantMs;
  readonly isTimestampGiven: boolean;
};

export type Repeat = { readonly candidate: Candidate; readonly isConflict: boolean };

/** One usage row to add: the events of one customer, meter generation, minute and source. */
export type UsageDelta = {
  readonly meter: MeterDefinition;
  readonly customerKey: string;
  readonly minuteMs: InstantMs;
  readonly source: string;
  readonly eventCount: number;
};

/** Everything that a batch adds to the stores, in an order that depends on its records alone. */
export type FoldedBatch = {
  readonly unique: readonly Candidate[];
  readonly repeats: readonly Repeat[];
  readonly deadLetters: readonly DeadLetter[];
  readonly deltas: readonly UsageDelta[];
  /** Unique events that matched at least one meter. */
  readonly countedEvents: number;
};

function isConflict(candidate: Candidate, first: StoredId): boolean {
  if (candidate.payloadHash !== first.payloadHash) return true;
  const { timestampMs, isTimestampGiven } = candidate.event;
  return isTimestampGiven && first.isTimestampGiven && timestampMs !== first.timestampMs;
}

function storedIdOf(candidate: Candidate): StoredId {
  const { timestampMs, isTimestampGiven } = candidate.event;
  return { payloadHash: candidate.payloadHash, timestampMs, isTimestampGiven };
}

/**
 * Separates first occurrences from repeats: of ids counted earlier, and of ids earlier in this
 * batch.
 */
function separateRepeats(
  candidates: readonly Candidate[],
  seen: ReadonlyMap<string, StoredId>,
): { readonly unique: readonly Candidate[]; readonly repeats: readonly Repeat[] } {
  const firsts = new Map<string, Candidate>();
  const unique: Candidate[] = [];
  const repeats: Repeat[] = [];
  for (const candidate of candidates) {
    const inBatch = firsts.get(candidate.idHash);
    const first =
      seen.get(candidate.idHash) ?? (inBatch === undefined ? undefined : storedIdOf(inBatch));
    if (first === undefined) {
      firsts.set(candidate.idHash, candidate);
      unique.push(candidate);
    } else {
      repeats.push({ candidate, isConflict: isConflict(candidate, first) });
    }
  }
  return { unique, repeats };
}

type MutableDelta = { -readonly [Key in keyof UsageDelta]: UsageDelta[Key] };

/** Adds one event to the deltas of every meter it matches; says whether there was any. */
function addToDeltas(
  deltas: Map<string, MutableDelta>,
  meters: MeterIndex,
  candidate: Candidate,
): boolean {
  const { environment, event } = candidate;
  const matching = metersOfEvent(meters, environment, event);
  if (matching.length === 0) return false;
  const customerKey = customerKeyOfEvent(event);
  const minuteMs = minuteOf(event.timestampMs);
  for (const meter of matching) {
    // The length keeps customer and source apart whatever characters they hold.
    const key = `${meter.generation}|${minuteMs}|${customerKey.length}|${customerKey}${event.source}`;
    const delta = deltas.get(key);
    if (delta !== undefined) delta.eventCount += 1;
    else deltas.set(key, { meter, customerKey, minuteMs, source: event.source, eventCount: 1 });
  }
  return true;
}

/**
 * Folds decoded records into what they add to the stores. `seen` holds those ids of the batch that
 * were counted at offsets below the batch; the result is a function of the records, `seen` and the
 * catalog alone, so a replay of the same range yields the same bytes.
 */
export function foldBatch(
  records: readonly DecodedRecord[],
  seen: ReadonlyMap<string, StoredId>,
  meters: MeterIndex,
): FoldedBatch {
  const { unique, repeats } = separateRepeats(
    records.flatMap((record) => record.candidates),
    seen,
  );
  const deltas = new Map<string, MutableDelta>();
  let countedEvents = 0;
  for (const candidate of unique) {
    if (addToDeltas(deltas, meters, candidate)) countedEvents += 1;
  }
  const deadLetters = records.flatMap((record) =>
    record.deadLetter === null ? [] : [record.deadLetter],
  );
  return { unique, repeats, deadLetters, deltas: [...deltas.values()], countedEvents };
}
