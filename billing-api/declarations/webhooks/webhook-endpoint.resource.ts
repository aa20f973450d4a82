import { z } from 'zod';
import {
  flag,
  hidden,
  instant,
  json,
  nullable,
  recordVersion,
  safeInteger,
  secretBytes,
  text,
  unaudited,
} from '../../records/columns.js';
import type { ListDto, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

export const WEBHOOK_ENDPOINTS = defineResource({
  name: 'webhook endpoint',
  idPrefix: 'whep',
  table: 'webhook_endpoints',
  columns: {
    url: text,
    event_types: nullable(json(z.array(z.string()))),
    description: nullable(text),
    enabled: flag,
    disabled_reason: nullable(text),
    secret: secretBytes,
    previous_secret: { ...nullable(secretBytes), isHidden: true, isSecret: true },
    previous_until: hidden(nullable(instant)),
    taken_until: hidden(unaudited(safeInteger)),
    version: recordVersion,
  },
  removal: 'deleted',
});
export type WebhookEndpointRow = RecordOf<typeof WEBHOOK_ENDPOINTS>;

/** Where system events are sent to. */
export interface WebhookEndpointDto extends RecordDto {
  url: string;
  /** Null: all of them. */
  event_types: string[] | null;
  description: string | null;
  enabled: boolean;
  /** Why it was disabled by itself: its receiver has answered 410. */
  disabled_reason: string | null;
}

/** An endpoint with the secret that signs what is sent to it, which is answered only here. */
export interface CreatedWebhookEndpointDto extends WebhookEndpointDto {
  /** @example "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" */
  secret: string;
}

export interface RotatedSecretDto {
  /** The new one. The one before signs too for 24 hours. */
  secret: string;
}

export interface WebhookEndpointListDto extends ListDto<WebhookEndpointDto> {}

/** @example {"url": "https://example.com/minutebook", "event_types": ["invoice.update.finalized"]} */
export interface CreateWebhookEndpointBody {
  /** A public address. @minLength 1 @maxLength 2000 */
  url: string;
  /** Names of events; all when absent. @minItems 1 @maxItems 100 */
  event_types?: string[];
  /** @maxLength 1000 */
  description?: string;
}

/** @example {"enabled": true} */
export interface ChangeWebhookEndpointBody {
  /** @minLength 1 @maxLength 2000 */
  url?: string;
  /** Null for all of them. @minItems 1 @maxItems 100 */
  event_types?: string[] | null;
  /** @maxLength 1000 */
  description?: string | null;
  /** What happened while it was disabled is sent then, as far as it is not older than 48 hours. */
  enabled?: boolean;
}

/** @example {"event_type": "invoice.update.finalized"} */
export interface TestWebhookEndpointBody {
  /** @default "invoice.update.finalized" @maxLength 100 */
  event_type?: string;
}

export function webhookEndpointToDto(row: WebhookEndpointRow): WebhookEndpointDto {
  return recordToDto(WEBHOOK_ENDPOINTS, row);
}
