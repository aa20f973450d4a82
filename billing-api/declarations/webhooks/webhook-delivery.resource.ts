import { z } from 'zod';
import { instant, json, nullable, oneOf, text } from '../../records/columns.js';
import type { DateTime, ListDto, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

export const DELIVERY_STATUSES = ['pending', 'delivered', 'failed', 'skipped'] as const;

const attempt = z.object({
  at: z.string(),
  status_code: z.number().nullable(),
  duration_ms: z.number(),
  error: z.string().nullable(),
  response_excerpt: z.string().nullable(),
});
export type DeliveryAttempt = z.output<typeof attempt>;

export const WEBHOOK_DELIVERIES = defineResource({
  name: 'webhook delivery',
  idPrefix: 'whdel',
  table: 'webhook_deliveries',
  columns: {
    endpoint_id: text,
    event_id: nullable(text),
    delivery_status: oneOf(DELIVERY_STATUSES),
    attempts: json(z.array(attempt)),
    next_attempt_at: nullable(instant),
  },
  removal: null,
});
export type WebhookDeliveryRow = RecordOf<typeof WEBHOOK_DELIVERIES>;

/** One try to deliver. */
export interface DeliveryAttemptDto {
  at: DateTime;
  /** Null when no answer came. @isInt */
  status_code: number | null;
  /** @isInt */
  duration_ms: number;
  error: string | null;
  /** The beginning of the answer. */
  response_excerpt: string | null;
}

/** What became of one system event at one endpoint. */
export interface WebhookDeliveryDto extends RecordDto {
  endpoint_id: string;
  /** Null for a test. */
  event_id: string | null;
  /** `skipped` was too old to be sent. */
  delivery_status: (typeof DELIVERY_STATUSES)[number];
  attempts: DeliveryAttemptDto[];
  /** By the clock of the machine; null when no attempt follows. */
  next_attempt_at: DateTime | null;
}

export interface WebhookDeliveryListDto extends ListDto<WebhookDeliveryDto> {}

export function webhookDeliveryToDto(row: WebhookDeliveryRow): WebhookDeliveryDto {
  return recordToDto(WEBHOOK_DELIVERIES, row);
}
