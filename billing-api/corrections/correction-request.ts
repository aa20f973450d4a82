import { DAY_MS, type InstantMs } from '../../contract/instant.js';
import { EVENT_TIMESTAMP_END_MS } from '../../contract/usage-event.js';
import type {
  CorrectedEventDto,
  CorrectionRequest,
  CreateCorrectionBody,
} from '../declarations/corrections/correction.resource.js';
import { MemberReader } from '../records/member-rules.js';
import type { Refusal } from '../records/refusal.js';

/** Events that are named one by one. */
const EVENTS_MAX = 1_000;
const REASON_LENGTH_MAX = 1_000;
const PROPERTIES_MAX = 100;
const KEY_LENGTH_MAX = 255;
const TEXT_LENGTH_MAX = 4_096;
/** A filter spans no more, so that its events can be found. */
const FILTER_DAYS_MAX = 400;
const FILTER_VALUES_MAX = 100;

type Properties = Readonly<Record<string, string>>;

function readProperties(reader: MemberReader, member: string, properties: Properties | undefined) {
  const entries = Object.entries(properties ?? {});
  if (entries.length > PROPERTIES_MAX) {
    reader.note(member, `must have at most ${PROPERTIES_MAX} properties`);
  }
  for (const [key, value] of entries) {
    if (key === '' || key.length > KEY_LENGTH_MAX) {
      reader.note(member, `must have names of 1 to ${KEY_LENGTH_MAX} characters`);
    }
    if (value.length > TEXT_LENGTH_MAX) {
      reader.note(`${member}.${key}`, `must have at most ${TEXT_LENGTH_MAX} characters`);
    }
  }
}

function eventInstant(
  reader: MemberReader,
  member: string,
  text: string | undefined,
): InstantMs | null {
  const instant = reader.instant(member, text);
  if (instant === null || (instant >= 0 && instant < EVENT_TIMESTAMP_END_MS)) return instant;
  reader.note(member, 'must be from 1970 to 2199');
  return null;
}

/** What each type of correction can say of one event. */
const MEMBERS: Readonly<Record<CreateCorrectionBody['type'], readonly string[]>> = {
  withdraw: [],
  amend: ['external_customer_id', 'timestamp', 'properties', 'remove_properties'],
  backfill: [
    'event_name',
    'external_customer_id',
    'customer_id',
    'timestamp',
    'source',
    'properties',
  ],
};

function readAdded(reader: MemberReader, place: string, event: CorrectedEventDto): void {
  if ((event.event_name ?? '').trim() === '') reader.note(`${place}.event_name`, 'is required');
  if (event.timestamp === undefined) reader.note(`${place}.timestamp`, 'is required');
  if ((event.external_customer_id ?? event.customer_id ?? '').trim() === '') {
    reader.note(`${place}.external_customer_id`, 'is required, or customer_id');
  }
}

function readEvent(
  reader: MemberReader,
  { type, place }: { readonly type: CreateCorrectionBody['type']; readonly place: string },
  event: CorrectedEventDto,
): void {
  const { event_id: id, ...members } = event;
  if (id.trim() === '') reader.note(`${place}.event_id`, 'must not be empty');
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  for (const [name] of given) {
    if (!MEMBERS[type].includes(name)) {
      reader.note(`${place}.${name}`, `must be left out: ${type} does not change it`);
    }
  }
  if (type === 'amend' && given.length === 0) {
    reader.note(
      place,
      'must say what changes: properties, remove_properties, timestamp or external_customer_id',
    );
  }
  if (type === 'amend' && event.external_customer_id === '') {
    reader.note(`${place}.external_customer_id`, 'must not be empty');
  }
  eventInstant(reader, `${place}.timestamp`, event.timestamp);
  readProperties(reader, `${place}.properties`, event.properties);
  if (type === 'backfill') readAdded(reader, place, event);
}

function readEvents(reader: MemberReader, { type, events }: CreateCorrectionBody): void {
  if (events === undefined) return;
  if (events.length < 1 || events.length > EVENTS_MAX) {
    reader.note('events', `must have 1 to ${EVENTS_MAX} events; use a filter for more`);
  }
  const seen = new Set<string>();
  for (const [index, event] of events.entries()) {
    readEvent(reader, { type, place: `events.${index}` }, event);
    if (seen.has(event.event_id)) {
      reader.note(`events.${index}.event_id`, 'must stand in the list once');
    }
    seen.add(event.event_id);
  }
}

function readFilterTexts(
  reader: MemberReader,
  filters: Readonly<Record<string, readonly string[]>>,
): void {
  for (const [key, values] of Object.entries(filters)) {
    if (values.length >= 1 && values.length <= FILTER_VALUES_MAX) continue;
    const limit = `must have 1 to ${FILTER_VALUES_MAX} texts`;
    reader.note(`filter.property_filters.${key}`, limit);
  }
}

function readFilter(reader: MemberReader, { type, filter }: CreateCorrectionBody): void {
  if (filter === undefined) return;
  if (type === 'backfill') reader.note('filter', 'must be left out: a backfill has its events');
  reader.name('filter.event_name', filter.event_name);
  const startMs = eventInstant(reader, 'filter.start_time', filter.start_time);
  const endMs = eventInstant(reader, 'filter.end_time', filter.end_time);
  if (startMs !== null && endMs !== null) {
    if (endMs <= startMs) reader.note('filter.end_time', 'must be later than filter.start_time');
    if (endMs - startMs > FILTER_DAYS_MAX * DAY_MS) {
      reader.note('filter.end_time', `must be at most ${FILTER_DAYS_MAX} days later`);
    }
  }
  readFilterTexts(reader, filter.property_filters ?? {});
}

function readChange(reader: MemberReader, { type, filter, change }: CreateCorrectionBody): void {
  if (change === undefined) {
    if (type === 'amend' && filter !== undefined) reader.note('change', 'is required');
    return;
  }
  if (type !== 'amend' || filter === undefined) {
    reader.note('change', 'must be left out: it goes with amend and a filter');
  }
  if (Object.values(change).every((value: unknown) => value === undefined)) {
    reader.note('change', 'must have properties, remove_properties or external_customer_id');
  }
  if (change.external_customer_id === '') {
    reader.note('change.external_customer_id', 'must not be empty');
  }
  readProperties(reader, 'change.properties', change.properties);
}

/** What is wrong with a request for a correction, naming every member; null for a good one. */
export function correctionProblems(body: CreateCorrectionBody): Refusal | null {
  const reader = new MemberReader();
  reader.name('reason', body.reason);
  if (body.reason.length > REASON_LENGTH_MAX) {
    reader.note('reason', `must have at most ${REASON_LENGTH_MAX} characters`);
  }
  if ((body.events === undefined) === (body.filter === undefined)) {
    reader.note('events', 'must be given, or filter, and not both');
  }
  readEvents(reader, body);
  readFilter(reader, body);
  readChange(reader, body);
  return reader.refusal();
}

/** What of a request is kept. */
export function requestOf({ events, filter, change }: CreateCorrectionBody): CorrectionRequest {
  return {
    ...(events === undefined ? {} : { events }),
    ...(filter === undefined ? {} : { filter }),
    ...(change === undefined ? {} : { change }),
  };
}
