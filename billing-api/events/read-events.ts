import type { Environment } from '../../contract/environment.js';
import type { InstantMs } from '../../contract/instant.js';
import type { Clock } from '../../runtime/clock.js';
import { propertyFiltersProblem } from '../domain/price/property-filters.js';
import type {
  EventCut,
  EventOrder,
  EventQuery,
  EventStore,
  PlaceInOrder,
  StoredEvent,
} from './events-store.js';
import type { Caller } from '../records/caller.js';
import type { ReadDependencies } from '../records/unit.js';
import { findEventCustomerKeys } from './event-customers.js';
import { formatEventPageKey, readEventPageKey, type EventPageKey } from './event-page-key.js';
import { MemberReader } from '../records/member-rules.js';
import { readPropertyFiltersText } from './property-filters-text.js';
import { invalid, isRefusal, type Refusal } from '../records/refusal.js';
import { readRange } from '../records/time-range.js';

const RANGE_DAYS = 7;
const PAGE_SIZE_DEFAULT = 50;

type PropertyFilters = Readonly<Record<string, readonly string[]>>;

export type EventsRequest = {
  readonly external_customer_id?: string | undefined;
  readonly customer_id?: string | undefined;
  readonly event_name?: string | undefined;
  readonly event_id?: string | undefined;
  readonly source?: string | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
  /** As the text of a query, or as the object of a body. */
  readonly property_filters?: string | PropertyFilters | undefined;
  readonly sort?: EventOrder['sort'] | undefined;
  readonly order?: EventOrder['direction'] | undefined;
  readonly page_size?: number | undefined;
  readonly offset?: number | undefined;
  readonly iter_first_key?: string | undefined;
  readonly iter_last_key?: string | undefined;
  readonly count_total?: boolean | undefined;
};

export type EventsPage = {
  readonly events: readonly StoredEvent[];
  readonly hasMore: boolean;
  readonly firstKey: string | null;
  /** Null unless more events follow. */
  readonly lastKey: string | null;
  /** Null unless it was asked for. */
  readonly total: number | null;
  readonly offset: number;
};

export type EventReadDependencies = ReadDependencies & {
  readonly events: EventStore;
  readonly clock: Clock;
};

type KeyMember = 'iter_first_key' | 'iter_last_key';

type ListQuery = {
  readonly conditions: Omit<EventQuery, 'customerKeys' | 'environment'>;
  readonly order: EventOrder;
  readonly keys: Readonly<Record<KeyMember, EventPageKey | null>>;
};

function readFilters(
  reader: MemberReader,
  given: EventsRequest['property_filters'],
): EventQuery['filters'] {
  const filters = typeof given === 'string' ? readPropertyFiltersText(given) : (given ?? {});
  if (typeof filters === 'string') {
    reader.note('property_filters', filters);
    return [];
  }
  reader.note('property_filters', propertyFiltersProblem(filters));
  return Object.entries(filters).map(([key, values]) => ({ key, values }));
}

function readKey(
  reader: MemberReader,
  request: EventsRequest,
  member: KeyMember,
): EventPageKey | null {
  const text = request[member];
  if (text === undefined) return null;
  const key = readEventPageKey(text);
  if (key === null) reader.note(member, 'is no key that an answer has given');
  return key;
}

/** What a request asks, at an instant that stands for an absent end, or what is wrong with it. */
function listQueryFrom(request: EventsRequest, now: InstantMs): ListQuery | Refusal {
  const reader = new MemberReader();
  const query: ListQuery = {
    conditions: {
      window: readRange(reader, request, { now, days: RANGE_DAYS }),
      eventName: request.event_name ?? null,
      eventId: request.event_id ?? null,
      source: request.source ?? null,
      filters: readFilters(reader, request.property_filters),
      ends: null,
    },
    order: { sort: request.sort ?? 'timestamp', direction: request.order ?? 'desc' },
    keys: {
      iter_first_key: readKey(reader, request, 'iter_first_key'),
      iter_last_key: readKey(reader, request, 'iter_last_key'),
    },
  };
  return reader.refusal() ?? query;
}

/** The place of a key in the order. A name is not in the key: its event is asked for it. */
async function placeOf(
  { events }: EventReadDependencies,
  environment: Environment,
  { query, member }: { readonly query: ListQuery; readonly member: KeyMember },
): Promise<PlaceInOrder | null | Refusal> {
  const key = query.keys[member];
  if (key === null || query.order.sort === 'timestamp') {
    return key === null ? null : { ...key, eventName: '' };
  }
  const event = (await events.find(environment, [key.eventId])).get(key.eventId);
  return event?.timestampMs === key.timestampMs ? event : invalid({ [member]: 'names no event' });
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
 * ends in front of iter_first_key, in the order asked for; both are fixed places, so events that
 * come in meanwhile neither repeat nor hide others.
 */
export async function readEvents(
  dependencies: EventReadDependencies,
  caller: Caller,
  request: EventsRequest,
): Promise<EventsPage | Refusal> {
  const { environment } = caller;
  const query = listQueryFrom(request, dependencies.clock.now());
  if (isRefusal(query)) return query;
  const behind = await placeOf(dependencies, environment, { query, member: 'iter_last_key' });
  if (isRefusal(behind)) return behind;
  const inFrontOf = await placeOf(dependencies, environment, { query, member: 'iter_first_key' });
  if (isRefusal(inFrontOf)) return inFrontOf;
  const customerKeys = await findEventCustomerKeys(dependencies.database, environment, request);
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
