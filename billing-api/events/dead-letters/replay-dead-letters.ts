import type { Environment } from '../../../contract/environment.js';
import { recordsOfEvents, type PartitionRecord } from '../../../contract/records-of-events.js';
import { decodeRecordParts, readRecordParts } from '../../../contract/records/record-parts.js';
import type { EventRecord, UndecodableReason } from '../../../contract/usage-event.js';
import type { EventLogWriter } from '../../../event-log/interface/event-log.js';
import { insertReplay } from './dead-letter-replays.js';
import {
  letterIdOf,
  letterPlaceOf,
  type DeadLetters,
  type LetterPlace,
} from './dead-letters-store.js';
import type { LazyEventLog } from '../../usage/watermark/log-access.js';
import {
  mustWrite,
  type ReadDependencies,
  type Transaction,
  type WriteDependencies,
} from '../../records/unit.js';
import { authorOf, type Occasion, type OperatorActor } from '../../records/occasion.js';
import { isRefusal, notFound, type Refusal } from '../../records/refusal.js';

export type ReplayDependencies = ReadDependencies & {
  readonly deadLetters: DeadLetters;
  readonly eventLog: LazyEventLog;
};

/** What became of one letter: its events are in the log again, or why they cannot be. */
export type ReplayResult = {
  readonly id: string;
  readonly reason: UndecodableReason | null;
  /** Events that were appended. */
  readonly events: number;
};

type Replayed = { readonly place: LetterPlace; readonly record: EventRecord };

/** The places of these ids, once each; a refusal for the first that names no letter to see. */
async function findPlaces(
  { deadLetters }: ReplayDependencies,
  environment: Environment | null,
  ids: readonly string[],
): Promise<readonly LetterPlace[] | Refusal> {
  const wanted = [...new Set(ids)];
  const places = wanted.flatMap((id) => letterPlaceOf(id) ?? []);
  const found = new Map(
    (await deadLetters.find(environment, places)).map((letter) => [letterIdOf(letter), letter]),
  );
  const unknown = wanted.find((id) => !found.has(id));
  return unknown === undefined ? places : notFound('dead letter', unknown);
}

function isOf(record: EventRecord, environment: Environment | null): boolean {
  if (environment === null) return true;
  const { tenantId, environmentId } = record.environment;
  return tenantId === environment.tenantId && environmentId === environment.environmentId;
}

/** The events of a part of a letter as records of the log, as ingest makes them. */
function recordsToAppend(
  { identity }: EventLogWriter,
  { environment, receivedAtMs, events }: EventRecord,
): readonly PartitionRecord[] {
  const { partitionCount } = identity;
  return recordsOfEvents(events, { environment, receivedAtMs, partitionCount });
}

/** Why records would become dead letters again; null when they would not. */
function reasonAgainst(records: readonly PartitionRecord[]): UndecodableReason | null {
  for (const { value } of records) {
    const { unreadable } = decodeRecordParts(value);
    if (unreadable !== null) return unreadable.reason;
  }
  return null;
}

/** What a payload is made of, and why it cannot be replayed; null when it can. */
function readLetter(
  writer: EventLogWriter,
  payload: string,
  environment: Environment | null,
): { readonly parts: readonly EventRecord[]; readonly reason: UndecodableReason | null } {
  const { parts, unreadable } = readRecordParts(payload);
  if (unreadable !== null) return { parts, reason: unreadable.reason };
  // It names the caller's environment only for a reader more lenient than ours.
  if (!parts.every((part) => isOf(part, environment))) return { parts, reason: 'malformed_record' };
  return { parts, reason: reasonAgainst(parts.flatMap((part) => recordsToAppend(writer, part))) };
}

/**
 * Decodes the letters with today's decoder and appends their events to the log once more, in as
 * many records as they need. Doing it again is harmless, since an id counts once. One letter is in
 * memory at a time.
 */
async function replayEach(
  dependencies: ReplayDependencies,
  environment: Environment | null,
  places: readonly LetterPlace[],
): Promise<{ readonly results: readonly ReplayResult[]; readonly replayed: readonly Replayed[] }> {
  const results: ReplayResult[] = [];
  const replayed: Replayed[] = [];
  const writer = await dependencies.eventLog.writer();
  for (const place of places) {
    const id = letterIdOf(place);
    const payload = (await dependencies.deadLetters.payload(environment, place)) ?? '';
    const { parts, reason } = readLetter(writer, payload, environment);
    if (reason !== null) {
      results.push({ id, reason, events: 0 });
      continue;
    }
    for (const record of parts) {
      await writer.append(recordsToAppend(writer, record));
      replayed.push({ place, record });
    }
    const events = parts.reduce((sum, record) => sum + record.events.length, 0);
    results.push({ id, reason: null, events });
  }
  return { results, replayed };
}

function noteAll(
  replayed: readonly Replayed[],
  by: { readonly now: number; readonly replayedBy: string },
) {
  return async (transaction: Pick<Transaction, 'query'>): Promise<void> => {
    for (const { place, record } of replayed) {
      await insertReplay(transaction, place, {
        environment: record.environment,
        events: record.events.length,
        replayedAtMs: by.now,
        replayedBy: by.replayedBy,
      });
    }
  };
}

/** POST /events/dead-letters/replay: letters of the caller's environment. */
export async function replayDeadLetters(
  dependencies: ReplayDependencies & WriteDependencies,
  occasion: Occasion,
  ids: readonly string[],
): Promise<readonly ReplayResult[] | Refusal> {
  const { environment } = occasion;
  const places = await findPlaces(dependencies, environment, ids);
  if (isRefusal(places)) return places;
  const { results, replayed } = await replayEach(dependencies, environment, places);
  await mustWrite(dependencies, occasion, ({ tx, now, actor }) =>
    noteAll(replayed, { now, replayedBy: authorOf(actor) })(tx),
  );
  return results;
}

/** What an operator does on the command line: letters of any environment, or of none. */
export async function replayAnyDeadLetters(
  dependencies: ReplayDependencies,
  operator: OperatorActor,
  ids: readonly string[],
): Promise<readonly ReplayResult[] | Refusal> {
  const places = await findPlaces(dependencies, null, ids);
  if (isRefusal(places)) return places;
  const { results, replayed } = await replayEach(dependencies, null, places);
  const by = { now: dependencies.clock.now(), replayedBy: authorOf(operator) };
  await dependencies.database.transaction(noteAll(replayed, by));
  return results;
}
