import { plain } from '../../../contract/number/decimal.js';
import { formatInstant, minuteOf } from '../../../contract/instant.js';
import type { EventTrace } from './look-up-event.js';
import { instantToDto, type DateTime, type DecimalText } from '../../records/record-dto.js';
import type { EventEffect } from '../../events/event-corrections.js';
import { eventToDto, type EventDto, type EventPropertiesDto } from '../../events/event-dto.js';

/** A meter that counts the event. */
export interface EventMeterDto {
  meter_id: string;
  /** The version that readers of the meter see now. @isInt */
  meter_version: number;
  /** The oldest published feature of the meter. */
  feature_id: string | null;
  /** What the event adds: 1 for a COUNT, and for a text of a COUNT_UNIQUE. */
  value: DecimalText;
  /** The value could not be read: property missing or no number, or the expression failed. */
  is_unreadable: boolean;
  /** False while the meter is being applied to stored events, and shows none of them. */
  is_applied: boolean;
}

/** A line item whose usage window contains the event. */
export interface EventLineDto {
  subscription_id: string;
  subscription_line_item_id: string;
  price_id: string;
  /** Null: invoices are previewed and not stored yet. */
  invoice_id: string | null;
  invoice_line_item_id: string | null;
  window_start: DateTime;
}

/** Where the event stands in the log. */
export interface LogPlaceDto {
  log_id: string;
  /** @isInt */
  partition: number;
  /** @isInt */
  offset: number;
  /** Position in a record that holds several events. @isInt */
  index: number;
}

/** A correction of the event, which is or was in force. */
export interface EventCorrectionDto {
  correction_id: string;
  type: 'amend' | 'withdraw' | 'backfill';
  correction_status: 'applied' | 'reverting' | 'reverted';
  /** Whether it decides how the event counts, unless a later one does. */
  is_in_force: boolean;
  effect: 'amended' | 'withdrawn';
  reason: string;
  applied_at: DateTime | null;
  applied_by: string | null;
  reverted_at: DateTime | null;
  /** When the event counts under it; null when it is withdrawn, like the next two. */
  timestamp: DateTime | null;
  external_customer_id: string | null;
  properties: EventPropertiesDto | null;
}

export interface EventLookupDto {
  /** As it was sent. */
  event: EventDto;
  /**
   * `pending`: accepted and not yet processed. `counted`: its customer and a meter exist.
   * `unmatched`: kept, and counted as soon as both exist. `withdrawn`: by a correction.
   */
  status: 'pending' | 'counted' | 'unmatched' | 'withdrawn';
  /** Why it is unmatched; null otherwise. */
  reason: 'unknown_customer' | 'no_meter_for_event_name' | 'no_matching_meter' | null;
  /** Duplicates that differ from this event; a part of `duplicates`. @isInt */
  conflicts: number;
  /** Duplicates of its id, which count nothing. @isInt */
  duplicates: number;
  /** The UTC minute that it counts in. */
  minute: DateTime;
  log: LogPlaceDto;
  meters: EventMeterDto[];
  lines: EventLineDto[];
  /** Corrections of it that are or were in force, oldest first. */
  corrections: EventCorrectionDto[];
}

function effectToDto({ effect, after, correction, isInForce }: EventEffect): EventCorrectionDto {
  const status = correction.correction_status;
  const isAmended = effect === 'amended';
  return {
    correction_id: correction.id,
    type: correction.type,
    correction_status: status === 'applied' || status === 'reverting' ? status : 'reverted',
    is_in_force: isInForce,
    effect,
    reason: correction.reason,
    applied_at: instantToDto(correction.applied_at),
    applied_by: correction.applied_by,
    reverted_at: instantToDto(correction.reverted_at),
    timestamp: isAmended ? formatInstant(after.timestampMs) : null,
    external_customer_id:
      isAmended && after.customerKey.startsWith('e:') ? after.customerKey.slice(2) : null,
    properties: isAmended ? after.properties : null,
  };
}

export function traceToDto(trace: EventTrace, environmentId: string): EventLookupDto {
  const { event, duplicateCounts } = trace;
  const { logId, ...place } = event.position;
  return {
    event: eventToDto(event, environmentId),
    status: trace.status,
    reason: trace.reason,
    conflicts: duplicateCounts.conflicts,
    duplicates: duplicateCounts.duplicates,
    minute: formatInstant(minuteOf(trace.counts.timestampMs)),
    log: { log_id: logId, ...place },
    meters: trace.meters.map(({ meter, featureId, value }) => ({
      meter_id: meter.meterId,
      meter_version: meter.version,
      feature_id: featureId,
      value: plain(value.value),
      is_unreadable: value.isUnreadable,
      is_applied: meter.generations.length > 0,
    })),
    lines: trace.lines.map((line) => ({
      subscription_id: line.subscriptionId,
      subscription_line_item_id: line.lineItemId,
      price_id: line.priceId,
      invoice_id: null,
      invoice_line_item_id: null,
      window_start: formatInstant(line.windowStartMs),
    })),
    corrections: trace.corrections.map(effectToDto),
  };
}
