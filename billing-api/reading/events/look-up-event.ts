import type { Occasion } from '../../records/occasion.js';
import { isRefusal, type Refusal } from '../../records/refusal.js';
import type { ReadDependencies } from '../../records/unit.js';
import { readCheckpoints } from '../../usage/watermark/checkpoints.js';
import {
  countedEventOf,
  findEventCorrections,
  type EventEffect,
  type FindEventEffects,
} from '../../events/event-corrections.js';
import type { CountDuplicates } from '../../events/event-conflicts-store.js';
import type { EventStore, StoredEvent } from '../../events/events-store.js';
import type { FindRemovedEvent } from '../../events/refuse-expired-lists.js';
import type { PendingLog } from '../../events/pending-log.js';
import { explainEvent, type EventExplanation } from './explain-event.js';
import { findPendingEvent } from './find-pending-event.js';

export type LookUpDependencies = ReadDependencies & {
  readonly events: EventStore;
  readonly pendingLog: PendingLog;
  readonly countDuplicates: CountDuplicates;
  readonly findRemovedEvent: FindRemovedEvent;
  readonly eventEffects: FindEventEffects;
};

/** One event through every stage. */
export type EventTrace = EventExplanation & {
  readonly event: StoredEvent;
  readonly status: 'pending' | 'counted' | 'unmatched' | 'withdrawn';
  /** Corrections of it that are or were in force, oldest first. */
  readonly corrections: readonly EventEffect[];
  /** As it counts: as it was sent, unless it is amended. */
  readonly counts: StoredEvent;
  readonly duplicateCounts: { readonly duplicates: number; readonly conflicts: number };
};

/** GET /events/lookup (docs/http.md 10.2): one event through every stage. */
export async function lookUpEvent(
  dependencies: LookUpDependencies,
  occasion: Occasion,
  id: string,
): Promise<EventTrace | Refusal> {
  const { environment } = occasion;
  // Read first, so that everything below the checkpoints is in ClickHouse when it is read.
  const checkpoints = await readCheckpoints(dependencies.database);
  const stored = (await dependencies.events.find(environment, [id])).get(id);
  const event =
    stored ?? (await findPendingEvent(dependencies.pendingLog, environment, { id, checkpoints }));
  if (isRefusal(event)) return (await dependencies.findRemovedEvent(environment, id)) ?? event;
  const duplicateCounts = await dependencies.countDuplicates(environment, event);
  if (!checkpoints.isFinished(event.position)) {
    const nothing = { reason: null, meters: [], lines: [], corrections: [] };
    return { event, counts: event, status: 'pending', duplicateCounts, ...nothing };
  }
  const corrections = await findEventCorrections(dependencies, environment, event);
  const counts = countedEventOf(event, corrections);
  if (counts === null) {
    const nothing = { reason: null, meters: [], lines: [] };
    return {
      event,
      counts: event,
      status: 'withdrawn',
      duplicateCounts,
      corrections,
      ...nothing,
    };
  }
  const explained = await explainEvent(dependencies, environment, counts);
  const status = explained.reason === null ? 'counted' : 'unmatched';
  return { event, counts, status, duplicateCounts, corrections, ...explained };
}
