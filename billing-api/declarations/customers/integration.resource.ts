import { sql } from 'slonik';
import { z } from 'zod';
import { oneOf, text } from '../../records/columns.js';
import { isOfEnvironment } from '../../records/conditions.js';
import type { DateTime, MetadataDto, ListDto, RecordStatusDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

/** The kinds of records that can be linked. */
export const LINKED = ['customer', 'plan', 'price', 'subscription', 'invoice', 'payment'] as const;
export type Linked = (typeof LINKED)[number];

/** What a record is called at another provider, such as a payment gateway. */
export const INTEGRATIONS = defineResource({
  name: 'integration mapping',
  idPrefix: 'eim',
  table: 'integration_mappings',
  columns: {
    entity_type: oneOf(LINKED),
    entity_id: text,
    provider_type: text,
    provider_entity_id: text,
  },
  unique: {
    integration_mappings_of_entity: 'provider_type',
    integration_mappings_of_provider: 'provider_entity_id',
  },
  removal: 'archived',
});
export type IntegrationRow = RecordOf<typeof INTEGRATIONS>;

/** @example {"provider_type": "stripe", "provider_entity_id": "cus_9s6XKzkNRiz8i3"} */
export interface IntegrationEntityBody {
  /** At most one of each type. @minLength 1 @maxLength 255 */
  provider_type: string;
  /** No other customer has it at this provider. @minLength 1 @maxLength 255 */
  provider_entity_id: string;
}

/**
 * @example {"entity_type": "customer", "entity_id": "cust_01KAHZ3M4N5P6Q7R8S9T0V1W2X",
 *   "provider_type": "erp", "provider_entity_id": "K-10023"}
 */
export interface LinkBody {
  entity_type: Linked;
  /** @minLength 1 @maxLength 255 */
  entity_id: string;
  /** @minLength 1 @maxLength 255 */
  provider_type: string;
  /** @minLength 1 @maxLength 255 */
  provider_entity_id: string;
  metadata?: MetadataDto;
}

/**
 * @example {"entity_type": "customer", "entity_id": "cust_01KAHZ3M4N5P6Q7R8S9T0V1W2X",
 *   "provider_type": "erp", "provider_entity_id": "K-10023"}
 */
export interface UnlinkBody {
  entity_type: Linked;
  /** @minLength 1 @maxLength 255 */
  entity_id: string;
  /** @minLength 1 @maxLength 255 */
  provider_type: string;
  /** @minLength 1 @maxLength 255 */
  provider_entity_id: string;
}

export interface IntegrationListDto extends ListDto<IntegrationDto> {}

/**
 * @example {"signal_id": "evt_1", "state": "active", "subscription_id":
 *   "subs_01KAHZ3M4N5P6Q7R8S9T0V1W2X", "occurred_at": "2026-01-01T00:00:00Z"}
 */
export interface SubscriptionSignalBody {
  /**
   * As the provider calls the signal: one that comes again has no second effect.
   * @minLength 1 @maxLength 255
   */
  signal_id: string;
  state: 'active';
  /**
   * Which subscription; or `provider_type` with `provider_subscription_id`, as it is linked.
   * @minLength 1 @maxLength 255
   */
  subscription_id?: string;
  /** @minLength 1 @maxLength 255 */
  provider_type?: string;
  /** @minLength 1 @maxLength 255 */
  provider_subscription_id?: string;
  occurred_at?: DateTime;
}

/** What has become of a signal. */
export interface SubscriptionSignalDto {
  message: string;
  subscription_id: string;
  subscription_status: string;
}

export interface IntegrationDto {
  id: string;
  entity_type: string;
  entity_id: string;
  provider_type: string;
  provider_entity_id: string;
  metadata: MetadataDto;
  status: RecordStatusDto;
  created_at: DateTime;
  created_by: string | null;
  updated_at: DateTime;
  updated_by: string | null;
}

export function integrationToDto(row: IntegrationRow): IntegrationDto {
  const answer = recordToDto(INTEGRATIONS, row);
  return {
    id: answer.id,
    entity_type: answer.entity_type,
    entity_id: answer.entity_id,
    provider_type: answer.provider_type,
    provider_entity_id: answer.provider_entity_id,
    metadata: answer.metadata,
    status: answer.status,
    created_at: answer.created_at,
    created_by: answer.created_by,
    updated_at: answer.updated_at,
    updated_by: answer.updated_by,
  };
}

const column = {
  schema: z.array(INTEGRATIONS.row),
  comparison: null,
  toAnswer: (rows: readonly IntegrationRow[]): readonly IntegrationDto[] =>
    rows.map(integrationToDto),
};

/** The published mappings of a customer, in the order of their types, read with the customer. */
export const INTEGRATIONS_OF_CUSTOMER = {
  column,
  // Instants in JSON would be texts; a row has them as milliseconds.
  expression: sql.fragment`
    SELECT coalesce(jsonb_agg(to_jsonb(mapping) || jsonb_build_object(
      'created_at', (extract(epoch FROM mapping.created_at) * 1000)::bigint,
      'updated_at', (extract(epoch FROM mapping.updated_at) * 1000)::bigint
    ) ORDER BY provider_type), '[]')
    FROM integration_mappings AS mapping
    WHERE entity_type = 'customer' AND entity_id = customers.id AND mapping.status = 'published'
      AND ${isOfEnvironment}`,
};
