import { plain } from '../../../contract/number/decimal.js';
import { formatInstant } from '../../../contract/instant.js';
import type { LineEvent } from './line-events-page.js';
import type { LineEvents } from './read-line-events.js';
import type { DateTime, DecimalText } from '../../records/record-dto.js';
import { csvText } from './csv.js';

/** An event behind a line, and what it adds to the quantity. */
export interface LineEventDto {
  event_id: string;
  timestamp: DateTime;
  received_at: DateTime;
  external_customer_id: string | null;
  source: string;
  /** Null where a MIN meter cannot read the value: the event takes no part. */
  value: DecimalText | null;
  /** Start of the bucket in which it counts; without buckets, start of the usage window. */
  window_start: DateTime;
  /** The event's text of the property that its meter groups by; null if it groups by none. */
  group: string | null;
  /** The text that a COUNT_UNIQUE meter counts. */
  text: string | null;
  /** The correction by which the event counts so; null for one that counts as it was sent. */
  correction_id: string | null;
}

export interface LineEventsDto {
  /** By timestamp, then id. */
  items: LineEventDto[];
  /** Null on the last page. */
  next_cursor: string | null;
  /** Of all pages. @isInt */
  event_count: number;
  /** The aggregate of the events of all pages. */
  quantity: DecimalText;
}

function itemToDto(item: LineEvent): LineEventDto {
  const { event, value, windowStartMs, group, text, correctionId } = item;
  const { customerKey } = event;
  return {
    event_id: event.eventId,
    timestamp: formatInstant(event.timestampMs),
    received_at: formatInstant(event.receivedAtMs),
    external_customer_id: customerKey.startsWith('e:') ? customerKey.slice(2) : null,
    source: event.source,
    value: value === null ? null : plain(value),
    window_start: formatInstant(windowStartMs),
    group,
    text,
    correction_id: correctionId,
  };
}

export function lineEventsToDto(page: LineEvents): LineEventsDto {
  return {
    items: page.items.map(itemToDto),
    next_cursor: page.nextCursor,
    event_count: page.eventCount,
    quantity: plain(page.quantity),
  };
}

const COLUMNS = [
  'event_id',
  'timestamp',
  'received_at',
  'external_customer_id',
  'source',
  'value',
  'window_start',
  'group',
  'text',
  'correction_id',
] as const;

/** The same page as CSV (docs/domain.md 33.4). */
export function lineEventsToCsv(page: LineEvents): string {
  const rows = page.items.map(itemToDto).map((item) => COLUMNS.map((column) => item[column]));
  return csvText(COLUMNS, rows);
}
