import type { InstantMs } from '../../contract/instant.js';
import type { ListConflicts, StoredConflict } from './event-conflicts-store.js';
import type { EventStore, StoredEvent } from './events-store.js';
import type { Occasion } from '../records/occasion.js';
import { endProblem, MemberReader } from '../records/member-rules.js';
import type { Refusal } from '../records/refusal.js';

const LIMIT_DEFAULT = 50;
/** Nothing is received before the first or after the last instant that an event may have. */
const RECEIVED_MIN: InstantMs = 0;
const RECEIVED_END: InstantMs = Date.UTC(2200, 0, 1);

export type ConflictsRequest = {
  readonly event_id?: string | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
};

/** A duplicate that differs, beside the event that counts; null should that be missing. */
export type EventConflict = StoredConflict & { readonly first: StoredEvent | null };

export type ConflictsPage = {
  readonly conflicts: readonly EventConflict[];
  readonly limit: number;
  readonly offset: number;
  readonly total: number;
};

export type ConflictReadDependencies = {
  readonly events: EventStore;
  readonly listConflicts: ListConflicts;
};

/** GET /events/conflicts, newest first; the range is that of the duplicates' receipt. */
export async function readEventConflicts(
  dependencies: ConflictReadDependencies,
  occasion: Occasion,
  request: ConflictsRequest,
): Promise<ConflictsPage | Refusal> {
  const reader = new MemberReader();
  const startMs = reader.instant('start_time', request.start_time) ?? RECEIVED_MIN;
  const endMs = reader.instant('end_time', request.end_time) ?? RECEIVED_END;
  reader.note('end_time', endProblem('start_time', startMs, endMs));
  const refusal = reader.refusal();
  if (refusal !== null) return refusal;
  const { environment } = occasion;
  const limit = request.limit ?? LIMIT_DEFAULT;
  const offset = request.offset ?? 0;
  const { rows, total } = await dependencies.listConflicts({
    environment,
    window: { startMs, endMs },
    eventId: request.event_id ?? null,
    limit,
    offset,
  });
  const ids = [...new Set(rows.map(({ eventId }) => eventId))];
  const firsts = await dependencies.events.find(environment, ids);
  const conflicts = rows.map((row) => ({ ...row, first: firsts.get(row.eventId) ?? null }));
  return { conflicts, limit, offset, total };
}
