import { formatInstant } from '../../contract/instant.js';
import type { StoredEvent } from './events-store.js';
import type { EventPayload } from './event-conflicts-store.js';
import type { EventConflict } from './read-event-conflicts.js';
import type { EventsPage } from './read-events.js';
import type { DateTime, ListDto } from '../records/record-dto.js';
import type { PropertyFiltersBody } from '../usage/usage-dto.js';

/** Property texts; numbers and booleans keep the text they were sent with. */
export interface EventPropertiesDto {
  [key: string]: string;
}

/** An event as it was accepted first; duplicates of its id are conflicts or count for nothing. */
export interface EventDto {
  /** The event_id. */
  id: string;
  external_customer_id: string | null;
  customer_id: string | null;
  event_name: string;
  timestamp: DateTime;
  received_at: DateTime;
  /** Empty when the sender gave none. */
  source: string;
  properties: EventPropertiesDto;
  environment_id: string;
}

export interface EventListDto {
  events: EventDto[];
  has_more: boolean;
  /** Key of the first event of this page. */
  iter_first_key: string | null;
  /** Key of the last event of this page; null when no more follow. */
  iter_last_key: string | null;
  /** Null unless `count_total` asks for it. @isInt */
  total_count: number | null;
  /** As requested; 0 with a key. @isInt */
  offset: number;
}

/**
 * All members are optional and joined by AND.
 * @example {"external_customer_id": "acme", "event_name": "api_call",
 *   "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-02-01T00:00:00Z",
 *   "property_filters": {"region": ["eu"]}, "page_size": 100}
 */
export interface EventsQueryBody {
  /** Events of this customer, whichever reference they were sent with. @maxLength 255 */
  external_customer_id?: string;
  /** Events of this customer, whichever reference they were sent with. @maxLength 255 */
  customer_id?: string;
  /** @maxLength 255 */
  event_name?: string;
  /** @maxLength 255 */
  event_id?: string;
  /** An empty text finds events without a source. @maxLength 255 */
  source?: string;
  /** Timestamps at or after; seven days before the end when absent. */
  start_time?: DateTime;
  /** Timestamps before; now when absent. */
  end_time?: DateTime;
  property_filters?: PropertyFiltersBody;
  /**
   * Ties are ordered by timestamp and id.
   * @default "timestamp"
   */
  sort?: 'timestamp' | 'event_name';
  /** @default "desc" */
  order?: 'asc' | 'desc';
  /**
   * @isInt
   * @minimum 1
   * @maximum 1000
   * @default 50
   */
  page_size?: number;
  /**
   * Without effect beside a key; long lists are read by keys.
   * @isInt
   * @minimum 0
   * @maximum 100000
   * @default 0
   */
  offset?: number;
  /** Only events in front of this one: with newest first, what has come since. @maxLength 300 */
  iter_first_key?: string;
  /** Only events behind this one: the next page. @maxLength 300 */
  iter_last_key?: string;
  /** Fills `total_count`. */
  count_total?: boolean;
}

export function eventToDto(event: StoredEvent, environmentId: string): EventDto {
  const { customerKey } = event;
  return {
    id: event.eventId,
    external_customer_id: customerKey.startsWith('e:') ? customerKey.slice(2) : null,
    customer_id: event.customerId,
    event_name: event.eventName,
    timestamp: formatInstant(event.timestampMs),
    received_at: formatInstant(event.receivedAtMs),
    source: event.source,
    properties: event.properties,
    environment_id: environmentId,
  };
}

export function eventsPageToDto(page: EventsPage, environmentId: string): EventListDto {
  return {
    events: page.events.map((event) => eventToDto(event, environmentId)),
    has_more: page.hasMore,
    iter_first_key: page.firstKey,
    iter_last_key: page.lastKey,
    total_count: page.total,
    offset: page.offset,
  };
}

/** What a sender said of an event. */
export interface EventPayloadDto {
  event_name: string;
  external_customer_id: string | null;
  customer_id: string | null;
  source: string;
  timestamp: DateTime;
  properties: EventPropertiesDto;
}

export interface EventConflictDto {
  event_id: string;
  /** The event that counts. */
  first: EventPayloadDto | null;
  /** The duplicate, which counts nothing. */
  repeat: EventPayloadDto;
  /** When the duplicate was received. */
  received_at: DateTime;
}

export interface EventConflictListDto extends ListDto<EventConflictDto> {}

function payloadOfEvent(event: StoredEvent): EventPayload {
  const { customerKey, customerId, eventName, source, properties } = event;
  return {
    event_name: eventName,
    external_customer_id: customerKey.startsWith('e:') ? customerKey.slice(2) : null,
    customer_id: customerId,
    source,
    timestamp: formatInstant(event.timestampMs),
    properties,
  };
}

export function conflictToDto({
  eventId,
  first,
  duplicate,
  receivedAtMs,
}: EventConflict): EventConflictDto {
  return {
    event_id: eventId,
    first: first === null ? null : payloadOfEvent(first),
    repeat: duplicate,
    received_at: formatInstant(receivedAtMs),
  };
}
