import { oneOf, recordVersion, secretBytes, text } from '../../records/columns.js';
import type { MetadataDto, PaginationDto, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

const PROVIDERS = ['s3'] as const;

/** A store of a customer, with what is needed to write to it. */
export const CONNECTIONS = defineResource({
  name: 'connection',
  idPrefix: 'conn',
  table: 'connections',
  columns: {
    name: text,
    provider_type: oneOf(PROVIDERS),
    secrets: secretBytes,
    version: recordVersion,
  },
  removal: 'deleted',
});
export type ConnectionRow = RecordOf<typeof CONNECTIONS>;

/** Where files are exported to. Its secrets are never answered. */
export interface ConnectionDto extends RecordDto {
  name: string;
  provider_type: 's3';
}

export interface ConnectionListDto {
  items: ConnectionDto[];
  pagination: PaginationDto;
}

/** The access to a bucket. Kept encrypted, and never answered. */
export interface ConnectionSecretsBody {
  /** @minLength 1 @maxLength 500 */
  access_key_id: string;
  /** @minLength 1 @maxLength 500 */
  secret_access_key: string;
  /** @minLength 1 @maxLength 5000 */
  session_token?: string;
}

/**
 * @example {"name": "Data lake", "provider_type": "s3", "secrets": {"access_key_id":
 *   "AKIAIOSFODNN7EXAMPLE", "secret_access_key": "an example, not a key"}}
 */
export interface CreateConnectionBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  /** Any store that speaks the interface of S3; other providers are not available yet. */
  provider_type: 's3';
  secrets: ConnectionSecretsBody;
  metadata?: MetadataDto;
}

/** @example {"name": "Data lake of Europe"} */
export interface ChangeConnectionBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** Replaced as a whole. */
  secrets?: ConnectionSecretsBody;
  metadata?: MetadataDto;
}

export function connectionToDto(row: ConnectionRow): ConnectionDto {
  return recordToDto(CONNECTIONS, row);
}
