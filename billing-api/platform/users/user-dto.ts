import { formatInstant } from '../../../contract/instant.js';
import type { UserRow } from './users-store.js';
import type { DateTime, MetadataDto, RecordStatusDto } from '../../records/record-dto.js';

export interface AddressDto {
  address_line1: string | null;
  address_line2: string | null;
  address_city: string | null;
  address_state: string | null;
  address_postal_code: string | null;
  address_country: string | null;
}

export interface BillingDetailsDto {
  email: string | null;
  help_email: string | null;
  phone: string | null;
  address: AddressDto;
}

export interface TenantDto {
  id: string;
  name: string;
  status: 'trialing' | 'active' | 'suspended';
  metadata: MetadataDto;
  created_at: DateTime;
  updated_at: DateTime;
  billing_details: BillingDetailsDto;
}

/** The user whose key made the call. */
export interface UserDto {
  id: string;
  tenant_id: string;
  /** The environment of the key. */
  environment_id: string;
  name: string | null;
  email: string | null;
  type: 'user' | 'service_account';
  roles: string[];
  tenant: TenantDto;
  status: RecordStatusDto;
  metadata: MetadataDto;
  created_at: DateTime;
  created_by: string | null;
  updated_at: DateTime;
  updated_by: string | null;
}

function addressToDto(address: Readonly<Record<string, string | null>>): AddressDto {
  return {
    address_line1: address['address_line1'] ?? null,
    address_line2: address['address_line2'] ?? null,
    address_city: address['address_city'] ?? null,
    address_state: address['address_state'] ?? null,
    address_postal_code: address['address_postal_code'] ?? null,
    address_country: address['address_country'] ?? null,
  };
}

function tenantToDto(row: UserRow): TenantDto {
  const details = row.tenant_billing_details;
  return {
    id: row.tenant_id,
    name: row.tenant_name,
    status: row.tenant_status,
    metadata: row.tenant_metadata,
    created_at: formatInstant(row.tenant_created_at),
    updated_at: formatInstant(row.tenant_updated_at),
    billing_details: {
      email: details.email ?? null,
      help_email: details.help_email ?? null,
      phone: details.phone ?? null,
      address: addressToDto(details.address ?? {}),
    },
  };
}

export function userToDto(row: UserRow, environmentId: string): UserDto {
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    environment_id: environmentId,
    name: row.name,
    email: row.email,
    type: row.type,
    roles: row.roles,
    tenant: tenantToDto(row),
    status: row.status,
    metadata: row.metadata,
    created_at: formatInstant(row.created_at),
    created_by: row.created_by,
    updated_at: formatInstant(row.updated_at),
    updated_by: row.updated_by,
  };
}
