import { oneOf, text } from '../records/columns.js';
import type { DateTime, MetadataDto, RecordStatusDto } from '../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../records/resource.js';

/** What a record is called at another provider, such as a payment gateway. */
export const INTEGRATIONS = defineResource({
  name: 'integration mapping',
  idPrefix: 'eim',
  table: 'integration_mappings',
  columns: {
    entity_type: oneOf(['customer']),
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

/** By the id of the customer, in the order of their types. */
export type IntegrationsByCustomer = ReadonlyMap<string, readonly IntegrationRow[]>;

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
