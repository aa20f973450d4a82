import type { InstantMs } from '../../contract/instant.js';
import { propertyFiltersProblem } from '../domain/price/property-filters.js';
import { MemberReader } from '../records/member-rules.js';
import type { Refusal } from '../records/refusal.js';
import { readRange } from '../records/time-range.js';
import { readEventPageKey, type EventPageKey } from './event-page-key.js';
import type { EventOrder, EventQuery } from './events-store.js';
import { readPropertyFiltersText } from './property-filters-text.js';

const RANGE_DAYS = 7;

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

/** The members of a request that hold a page key. */
export type KeyMember = 'iter_first_key' | 'iter_last_key';

/** Which events a request lists, in which order, and between which keys. */
export type EventListQuery = {
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
  if (key === null)
    reader.note(
      member,
      'must be a key of an earlier answer (iter_first_key or iter_last_key); leave it out for the first page',
    );
  return key;
}

/** Reads a request, or says what is wrong with it; an absent end means now. */
export function eventListQueryFrom(
  request: EventsRequest,
  now: InstantMs,
): EventListQuery | Refusal {
  const reader = new MemberReader();
  const query: EventListQuery = {
    conditions: {
      window: readRange(reader, request, { now, days: RANGE_DAYS }),
      eventName: request.event_name ?? null,
      eventId: request.event_id ?? null,
      source: request.source ?? null,
      filters: readFilters(reader, request.property_filters),
      ends: null,
      corrections: [],
    },
    order: { sort: request.sort ?? 'timestamp', direction: request.order ?? 'desc' },
    keys: {
      iter_first_key: readKey(reader, request, 'iter_first_key'),
      iter_last_key: readKey(reader, request, 'iter_last_key'),
    },
  };
  return reader.refusal() ?? query;
}
