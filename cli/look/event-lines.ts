import pc from 'picocolors';
import type { EventDto } from '../../billing-api/events/event-dto.js';
import type { EventLookupDto } from '../../billing-api/reading/events/event-lookup-dto.js';
import { tableLines } from './tables.js';
import { safeText } from './safe-text.js';

const REASONS: Readonly<Record<NonNullable<EventLookupDto['reason']>, string>> = {
  unknown_customer: 'there is no such customer yet',
  no_meter_for_event_name: 'no meter counts events of this name yet',
  no_matching_meter: 'meters count events of this name, but their filters leave this one out',
};

function propertiesOf({ properties }: EventDto): string {
  const texts = Object.entries(properties).map(([name, value]) => `${name}=${value}`);
  return safeText(texts.join(' '));
}

function customerOf(event: EventDto): string {
  return safeText(event.external_customer_id ?? event.customer_id ?? '');
}

/** An event in one line: time, id, name, customer, source and properties. */
export function eventLine(event: EventDto): string {
  const parts = [
    pc.dim(event.timestamp),
    safeText(event.id),
    pc.bold(safeText(event.event_name)),
    customerOf(event),
    event.source === '' ? '' : `from ${safeText(event.source)}`,
    propertiesOf(event),
  ];
  return parts.filter((part) => part !== '').join('  ');
}

function sentAgain({ duplicates, conflicts }: EventLookupDto): string {
  if (duplicates === 0) return 'no';
  const times = duplicates === 1 ? 'once' : `${duplicates} times`;
  const differing = conflicts === 0 ? '' : `, ${conflicts} of them with different content`;
  return `${times}${differing}; that counts nothing`;
}

function facts(answer: EventLookupDto): readonly string[] {
  const { event, log } = answer;
  const rows = {
    customer: customerOf(event),
    name: safeText(event.event_name),
    timestamp: event.timestamp,
    received: event.received_at,
    source: safeText(event.source),
    properties: propertiesOf(event),
    'sent again': sentAgain(answer),
    'in the log': `partition ${log.partition}, offset ${log.offset}, event ${log.index}`,
  };
  const shown = Object.entries(rows).filter(([, text]) => text !== '');
  return shown.map(([name, text]) => `  ${name.padEnd(11)} ${text}`);
}

function valueOf(meter: EventLookupDto['meters'][number]): string {
  const value = meter.is_unreadable ? 'unreadable' : meter.value;
  return meter.is_applied
    ? value
    : `${value} (not shown yet: the meter is still applied to stored events)`;
}

function meterLines({ meters }: EventLookupDto): readonly string[] {
  if (meters.length === 0) return [];
  const rows = meters.map((meter) => [meter.meter_id, meter.meter_version, valueOf(meter)]);
  return ['', ...tableLines(['counted on meter', 'version', 'value'], rows)];
}

function invoiceLines({ lines }: EventLookupDto): readonly string[] {
  if (lines.length === 0) return [];
  const rows = lines.map((line) => [
    line.subscription_id,
    line.subscription_line_item_id,
    line.price_id,
    line.window_start,
  ]);
  return ['', ...tableLines(['subscription', 'line item', 'price', 'window start'], rows)];
}

/** What became of an event, as text for people. */
export function lookupLines(answer: EventLookupDto): readonly string[] {
  const { status, reason } = answer;
  const why = reason === null ? '' : `: ${REASONS[reason]}`;
  return [
    `${pc.bold(`Event ${safeText(answer.event.id)}`)} is ${pc.bold(status)}${why}`,
    '',
    ...facts(answer),
    ...meterLines(answer),
    ...invoiceLines(answer),
  ];
}
