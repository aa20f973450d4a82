import { z } from 'zod';
import { CORRECTION } from '../../domain/lifecycle/correction-lifecycle.js';
import {
  hidden,
  instant,
  json,
  nullable,
  oneOf,
  recordVersion,
  safeInteger,
  text,
} from '../../records/columns.js';
import type { DateTime, DecimalText, PaginationDto, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

export const CORRECTION_TYPES = ['amend', 'withdraw', 'backfill'] as const;

/** Property texts; numbers are sent as text, so that every digit stays. */
export interface CorrectedPropertiesDto {
  [key: string]: string;
}

/** How events count instead; what is left out stays as it is. */
export interface EventChangeDto {
  /** These replace or join those of the event. */
  properties?: CorrectedPropertiesDto;
  /** @maxItems 100 */
  remove_properties?: string[];
  /** The customer for whom the events count. @maxLength 255 */
  external_customer_id?: string;
}

/** One event of a correction. */
export interface CorrectedEventDto {
  /** @minLength 1 @maxLength 255 */
  event_id: string;
  /** A backfill needs it; the name of an event never changes. @maxLength 255 */
  event_name?: string;
  /** @maxLength 255 */
  external_customer_id?: string;
  /** Of a backfill only, in the place of external_customer_id. @maxLength 255 */
  customer_id?: string;
  /** A backfill needs it. */
  timestamp?: DateTime;
  /** Of a backfill only. @maxLength 255 */
  source?: string;
  /** Of an amendment: these replace or join those of the event. */
  properties?: CorrectedPropertiesDto;
  /** Of an amendment only. @maxItems 100 */
  remove_properties?: string[];
}

/**
 * @minItems 1
 * @maxItems 100
 */
export type CorrectionTexts = string[];

/** Texts of which a property must have one. */
export interface CorrectionPropertyFiltersDto {
  [key: string]: CorrectionTexts;
}

/** Events by what they are; all members are joined by AND. */
export interface CorrectionFilterDto {
  /** @minLength 1 @maxLength 255 */
  event_name: string;
  /** Timestamps at or after. */
  start_time: DateTime;
  /** Timestamps before; at most 400 days later. */
  end_time: DateTime;
  /** @maxLength 255 */
  external_customer_id?: string;
  /** @maxLength 255 */
  customer_id?: string;
  /** An empty text finds events without a source. @maxLength 255 */
  source?: string;
  /** The property exists and has one of the texts. */
  property_filters?: CorrectionPropertyFiltersDto;
}

/**
 * Events by id, or a filter.
 * @example {"type": "withdraw", "reason": "the probe of 4 January was sent twice",
 *   "events": [{"event_id": "evt-1"}, {"event_id": "evt-2"}]}
 */
export interface CreateCorrectionBody {
  type: 'amend' | 'withdraw' | 'backfill';
  /** Why, for the audit. @minLength 1 @maxLength 1000 */
  reason: string;
  /** @minItems 1 @maxItems 1000 */
  events?: CorrectedEventDto[];
  /** Not for a backfill. */
  filter?: CorrectionFilterDto;
  /** With `amend` and a filter: how each of the events counts instead. */
  change?: EventChangeDto;
}

/** @example {"token": "preview_01J00000000000000000000A0C"} */
export interface ApplyCorrectionBody {
  /** That of the preview: exactly what it shows is applied. @maxLength 255 */
  token: string;
}

/** @example {"reason": "the gateway had sent the right figures"} */
export interface RevertCorrectionBody {
  /** Why, for the audit. @minLength 1 @maxLength 1000 */
  reason: string;
}

const quantity = z.object({
  meter_id: z.string(),
  quantity_before: z.string(),
  quantity_after: z.string(),
});
const touchedInvoice = z.object({
  invoice_id: z.string(),
  invoice_status: z.string(),
  currency: z.string(),
  total_before: z.string(),
  total_after: z.string().nullable(),
  problem: z.string().nullable(),
});
const summary = z.object({
  events: z.number().int(),
  customers: z.number().int(),
  event_names: z.array(z.string()),
  start_time: z.string().nullable(),
  end_time: z.string().nullable(),
  quantities: z.array(quantity),
  invoices: z.array(touchedInvoice),
  invoice_count: z.number().int(),
});
export type CorrectionSummary = z.output<typeof summary>;

const changedProperties = {
  properties: z.record(z.string()).optional(),
  remove_properties: z.array(z.string()).optional(),
};
const correctedEvent = z.object({
  event_id: z.string(),
  event_name: z.string().optional(),
  external_customer_id: z.string().optional(),
  customer_id: z.string().optional(),
  timestamp: z.string().optional(),
  source: z.string().optional(),
  ...changedProperties,
});
const filter = z.object({
  event_name: z.string(),
  start_time: z.string(),
  end_time: z.string(),
  external_customer_id: z.string().optional(),
  customer_id: z.string().optional(),
  source: z.string().optional(),
  property_filters: z.record(z.array(z.string())).optional(),
});
const change = z.object({
  ...changedProperties,
  external_customer_id: z.string().optional(),
});
const request = z.object({
  events: z.array(correctedEvent).optional(),
  filter: filter.optional(),
  change: change.optional(),
});
export type CorrectionRequest = z.output<typeof request>;

/** A correction of events (docs/domain.md 7.10). */
export const CORRECTIONS = defineResource({
  name: 'correction',
  idPrefix: 'corr',
  table: 'event_corrections',
  columns: {
    type: oneOf(CORRECTION_TYPES),
    correction_status: oneOf(CORRECTION.states),
    reason: text,
    request: hidden(json(request)),
    number: hidden(nullable(safeInteger)),
    token: nullable(text),
    error: nullable(text),
    summary: nullable(json(summary)),
    moves_known: hidden(nullable(safeInteger)),
    move_number: hidden(nullable(safeInteger)),
    prepared_at: nullable(instant),
    applied_at: nullable(instant),
    applied_by: nullable(text),
    reverted_at: nullable(instant),
    reverted_by: nullable(text),
    revert_reason: nullable(text),
    version: recordVersion,
  },
  removal: null,
  lifecycle: { column: 'correction_status', of: CORRECTION },
});
export type CorrectionRow = RecordOf<typeof CORRECTIONS>;

/** What a meter counts in the time that a correction touches, of the customers that it touches. */
export interface CorrectedQuantityDto {
  meter_id: string;
  quantity_before: DecimalText;
  quantity_after: DecimalText;
}

/** A stored invoice with usage that a correction changes. */
export interface CorrectedInvoiceDto {
  invoice_id: string;
  invoice_status: string;
  currency: string;
  /** As it is stored. */
  total_before: DecimalText;
  /** As it would be with this correction; null where that could not be computed. */
  total_after: DecimalText | null;
  /** Why not. */
  problem: string | null;
}

/** What a correction touches. */
export interface CorrectionSummaryDto {
  /** @isInt */
  events: number;
  /** Under how many customer references these events count, before or after. @isInt */
  customers: number;
  event_names: string[];
  /** Of the first minute in which something changes; null when it touches nothing. */
  start_time: DateTime | null;
  /** Of the end of the last one. */
  end_time: DateTime | null;
  quantities: CorrectedQuantityDto[];
  /** At most 50; `invoice_count` tells how many there are. */
  invoices: CorrectedInvoiceDto[];
  /** @isInt */
  invoice_count: number;
}

/** A correction of events. The events themselves never change. */
export interface CorrectionDto extends RecordDto {
  type: (typeof CORRECTION_TYPES)[number];
  correction_status: 'preparing' | 'ready' | 'applied' | 'reverting' | 'reverted' | 'failed';
  reason: string;
  /** With which it is applied; null before it is ready. */
  token: string | null;
  /** Why it could not be prepared. */
  error: string | null;
  /** What it touches; null before it is ready. */
  summary: CorrectionSummaryDto | null;
  prepared_at: DateTime | null;
  applied_at: DateTime | null;
  applied_by: string | null;
  reverted_at: DateTime | null;
  reverted_by: string | null;
  revert_reason: string | null;
}

export interface CorrectionListDto {
  items: CorrectionDto[];
  pagination: PaginationDto;
}

export function correctionToDto(row: CorrectionRow): CorrectionDto {
  return recordToDto(CORRECTIONS, row);
}
