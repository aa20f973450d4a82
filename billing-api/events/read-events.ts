import type { Environment } from '../../contract/environment.js';
import type { EventCut, EventStore, PlaceInOrder, StoredEvent } from './events-store.js';
import type { Occasion } from '../records/occasion.js';
import { readUnit, type ReadDependencies } from '../records/unit.js';
import { findEventCustomerKeys } from './event-customers.js';
import {
  eventListQueryFrom,
  type EventListQuery,
  type EventsRequest,
  type KeyMember,
} from './event-list-query.js';
import { formatEventPageKey } from './event-page-key.js';
import { accept, invalid, isRefusal, type Refusal } from '../records/refusal.js';

const PAGE_SIZE_DEFAULT = 50;

export type EventsPage = {
  readonly events: readonly StoredEvent[];
  readonly hasMore: boolean;
  readonly firstKey: string | null;
  /** Null unless more events follow. */
  readonly lastKey: string | null;
  /** Null unless the request sets count_total. */
  readonly total: number | null;
  readonly offset: number;
};

export type EventReadDependencies = ReadDependencies & {
  readonly events: EventStore;
};

/** The place of a key in the order. A key has no event name; it is read from the event. */
async function placeOf(
  { events }: EventReadDependencies,
  environment: Environment,
  { query, member }: { readonly query: EventListQuery; readonly member: KeyMember },
): Promise<PlaceInOrder | null | Refusal> {
  const key = query.keys[member];
  if (key === null || query.order.sort === 'timestamp') {
    return key === null ? null : { ...key, eventName: '' };
  }
  const event = (await events.find(environment, [key.eventId])).get(key.eventId);
  return event?.timestampMs === key.timestampMs
    ? event
    : invalid({ [member]: 'names an event that does not exist' });
}

function pageFrom(found: readonly StoredEvent[], cut: EventCut, total: number | null): EventsPage {
  const pageSize = cut.limit - 1;
  const events = found.slice(0, pageSize);
  const hasMore = found.length > pageSize;
  const [first, last] = [events[0], events.at(-1)];
  return {
    events,
    hasMore,
    firstKey: first === undefined ? null : formatEventPageKey(first),
    lastKey: last === undefined || !hasMore ? null : formatEventPageKey(last),
    total,
    offset: cut.offset,
  };
}

/**
 * POST /events/query and GET /events (docs/http.md 10.2). A page begins behind iter_last_key and
 * ends in front of iter_first_key, in the requested order; both are fixed places, so events that
 * come in meanwhile neither repeat nor hide others.
 */
export async function readEvents(
  dependencies: EventReadDependencies,
  occasion: Occasion,
  request: EventsRequest,
): Promise<EventsPage | Refusal> {
  const { environment } = occasion;
  const asked = await readUnit(dependencies, occasion, async (unit) => {
    const query = accept(eventListQueryFrom(request, unit.now));
    return { query, customerKeys: await findEventCustomerKeys(unit, request) };
  });
  if (isRefusal(asked)) return asked;
  const { query, customerKeys } = asked;
  const behind = await placeOf(dependencies, environment, { query, member: 'iter_last_key' });
  if (isRefusal(behind)) return behind;
  const inFrontOf = await placeOf(dependencies, environment, { query, member: 'iter_first_key' });
  if (isRefusal(inFrontOf)) return inFrontOf;
  const conditions = { ...query.conditions, environment, customerKeys };
  const hasKey = behind !== null || inFrontOf !== null;
  const cut: EventCut = {
    order: query.order,
    behind,
    inFrontOf,
    // One more than the page, to tell whether there is one.
    limit: (request.page_size ?? PAGE_SIZE_DEFAULT) + 1,
    offset: hasKey ? 0 : (request.offset ?? 0),
  };
  const [found, total] = await Promise.all([
    dependencies.events.list(conditions, cut),
    request.count_total === true ? dependencies.events.count(conditions) : null,
  ]);
  return pageFrom(found, cut, total);
}
