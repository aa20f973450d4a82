import { z } from 'zod';
import type { SecretPlace } from '../../../runtime/secret-box.js';
import { json, nullable, oneOf, recordVersion, secretBytes, text } from '../../records/columns.js';
import type { MetadataDto, ListDto, RecordDto } from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

const PROVIDERS = ['s3', 'stripe'] as const;

/** What each provider does: it keeps files, or it takes payments. */
export const PROVIDER_ROLES = {
  s3: 'store',
  stripe: 'gateway',
} as const satisfies Readonly<Record<(typeof PROVIDERS)[number], 'store' | 'gateway'>>;

type ProviderOf<Role, Name = keyof typeof PROVIDER_ROLES> = Name extends keyof typeof PROVIDER_ROLES
  ? (typeof PROVIDER_ROLES)[Name] extends Role
    ? Name
    : never
  : never;
/** As payments name the gateway that takes them. */
export type GatewayName = ProviderOf<'gateway'>;

/** Which way an invoice goes: to the provider, or what the provider says of it to here. */
const DIRECTIONS = ['push', 'pull'] as const;
export type SyncDirection = (typeof DIRECTIONS)[number];

/** A service of others, with what is needed to use it: a store of files, or a payment gateway. */
export const CONNECTIONS = defineResource({
  name: 'connection',
  idPrefix: 'conn',
  table: 'connections',
  columns: {
    name: text,
    provider_type: oneOf(PROVIDERS),
    secrets: secretBytes,
    endpoint_url: nullable(text),
    sync_config: nullable(json(z.object({ direction: z.array(z.enum(DIRECTIONS)) }))),
    version: recordVersion,
  },
  unique: { connections_gateway: 'provider_type' },
  removal: 'deleted',
});
export type ConnectionRow = RecordOf<typeof CONNECTIONS>;

/** Where the secrets of a connection are kept: they open there only. */
export function placeOfSecrets(
  row: Pick<ConnectionRow, 'tenant_id' | 'environment_id' | 'id'>,
): SecretPlace {
  const { tenant_id: tenantId, environment_id: environmentId, id } = row;
  return { tenantId, environmentId, table: CONNECTIONS.table, id };
}

/** Where files are exported to, or who takes payments. Its secrets are never answered. */
export interface ConnectionDto extends RecordDto {
  name: string;
  provider_type: (typeof PROVIDERS)[number];
  endpoint_url: string | null;
  /** Null when invoices are not synced. */
  sync_config: SyncConfigDto | null;
}

/** @example {"direction": ["push", "pull"]} */
export interface SyncConfigDto {
  /**
   * push: invoices may be sent there. pull: what is paid there may be taken over.
   * @maxItems 2
   */
  direction: SyncDirection[];
}

export interface ConnectionListDto extends ListDto<ConnectionDto> {}

/** The access to a bucket. */
export type S3Secrets = {
  readonly access_key_id: string;
  readonly secret_access_key: string;
  readonly session_token?: string;
};

/** The access to an account at a payment gateway. */
export type GatewaySecrets = {
  readonly secret_key: string;
  readonly webhook_secret: string;
};

/**
 * Of s3: access_key_id, secret_access_key and perhaps session_token. Of stripe: secret_key and
 * webhook_secret. Kept encrypted, and never answered.
 */
export interface ConnectionSecretsBody {
  /** @minLength 1 @maxLength 500 */
  access_key_id?: string;
  /** @minLength 1 @maxLength 500 */
  secret_access_key?: string;
  /** @minLength 1 @maxLength 5000 */
  session_token?: string;
  /** The secret or restricted key of the account. @minLength 1 @maxLength 500 */
  secret_key?: string;
  /** With which Stripe signs what it sends. @minLength 1 @maxLength 500 */
  webhook_secret?: string;
}

/**
 * @example {"name": "Data lake", "provider_type": "s3", "secrets": {"access_key_id":
 *   "AKIAIOSFODNN7EXAMPLE", "secret_access_key": "an example, not a key"}}
 */
export interface CreateConnectionBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  /**
   * s3 is any store that speaks the interface of S3; stripe takes payments, and an environment has
   * at most one of it. Other providers are not available yet.
   */
  provider_type: (typeof PROVIDERS)[number];
  secrets: ConnectionSecretsBody;
  /**
   * Of stripe: where its interface is, when a service of yours stands before it.
   * @maxLength 2048
   */
  endpoint_url?: string;
  /** Of stripe: which ways invoices are synced. Without it, none. */
  sync_config?: SyncConfigDto;
  metadata?: MetadataDto;
}

/** @example {"name": "Data lake of Europe"} */
export interface ChangeConnectionBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** Replaced as a whole. */
  secrets?: ConnectionSecretsBody;
  /** Of stripe: replaced as a whole; with an empty `direction`, invoices are synced no more. */
  sync_config?: SyncConfigDto;
  metadata?: MetadataDto;
}

export function connectionToDto(row: ConnectionRow): ConnectionDto {
  return recordToDto(CONNECTIONS, row);
}
