import { z } from 'zod';
import { formatInstant } from '../../../contract/instant.js';
import { instantColumn } from '../../../sql/columns.js';
import { recordColumns } from '../../records/columns.js';
import type { DateTime, MetadataDto } from '../../records/record-dto.js';

const line = z.string().nullish();
const address = z.object({
  address_line1: line,
  address_line2: line,
  address_city: line,
  address_state: line,
  address_postal_code: line,
  address_country: line,
});

/** A tenant as it is stored. */
export const tenantRow = z.object({
  id: z.string(),
  name: z.string(),
  status: z.enum(['trialing', 'active', 'suspended']),
  metadata: recordColumns.metadata.schema,
  billing_details: z.object({
    email: line,
    help_email: line,
    phone: line,
    address: address.nullish(),
  }),
  /** What the setting tenant_limits says; null when nothing has been set. */
  limits: z.record(z.unknown()).nullable(),
  created_at: instantColumn,
  updated_at: instantColumn,
});
export type TenantRow = z.output<typeof tenantRow>;

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

export interface TenantAddressBody {
  /** @maxLength 255 */
  address_line1?: string | null;
  /** @maxLength 255 */
  address_line2?: string | null;
  /** @maxLength 255 */
  address_city?: string | null;
  /** @maxLength 255 */
  address_state?: string | null;
  /** @maxLength 255 */
  address_postal_code?: string | null;
  /** @maxLength 255 */
  address_country?: string | null;
}

export interface BillingDetailsBody {
  /** @maxLength 255 */
  email?: string | null;
  /** @maxLength 255 */
  help_email?: string | null;
  /** @maxLength 255 */
  phone?: string | null;
  address?: TenantAddressBody | null;
}

/** @example {"name": "Example Ltd", "billing_details": {"email": "accounts@example.com"}} */
export interface ChangeTenantBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** Replaced as a whole: what is left out is cleared. */
  billing_details?: BillingDetailsBody | null;
  metadata?: MetadataDto | null;
}

function addressToDto(address: NonNullable<TenantRow['billing_details']['address']>): AddressDto {
  return {
    address_line1: address.address_line1 ?? null,
    address_line2: address.address_line2 ?? null,
    address_city: address.address_city ?? null,
    address_state: address.address_state ?? null,
    address_postal_code: address.address_postal_code ?? null,
    address_country: address.address_country ?? null,
  };
}

export function tenantToDto(row: TenantRow): TenantDto {
  const { billing_details: details } = row;
  return {
    id: row.id,
    name: row.name,
    status: row.status,
    metadata: row.metadata,
    created_at: formatInstant(row.created_at),
    updated_at: formatInstant(row.updated_at),
    billing_details: {
      email: details.email ?? null,
      help_email: details.help_email ?? null,
      phone: details.phone ?? null,
      address: addressToDto(details.address ?? {}),
    },
  };
}
