import { nullable, text } from '../records/columns.js';
import type {
  DateTime,
  MetadataDto,
  PaginationDto,
  RecordDto,
  RecordStatusDto,
  SearchBody,
} from '../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../records/resource.js';

export const CUSTOMERS = defineResource({
  name: 'customer',
  idPrefix: 'cust',
  table: 'customers',
  columns: {
    external_id: text,
    name: text,
    email: nullable(text),
    contact: nullable(text),
    address_line1: nullable(text),
    address_line2: nullable(text),
    address_city: nullable(text),
    address_state: nullable(text),
    address_postal_code: nullable(text),
    address_country: nullable(text),
    timezone: nullable(text),
  },
  unique: { customers_external_id: 'external_id' },
  removal: 'archived',
});
export type CustomerRow = RecordOf<typeof CUSTOMERS>;

/** Not available yet: refused when given. */
export interface TaxRateOverrideBody {
  tax_rate_code: string;
  /** @isInt */
  priority?: number;
  currency?: string;
}

/** Not available yet: refused when given. */
export interface IntegrationEntityBody {
  provider_type: string;
  provider_entity_id: string;
}

/**
 * @example {"external_id": "acme", "name": "Acme Ltd", "email": "billing@acme.example",
 *   "address_country": "DE", "timezone": "Europe/Berlin"}
 */
export interface CreateCustomerBody {
  /** Your own id of the customer; usage events name it. @minLength 1 @maxLength 255 */
  external_id: string;
  /** The external id when absent. @maxLength 255 */
  name?: string;
  /** @maxLength 255 */
  email?: string;
  /** @maxLength 20 */
  contact?: string;
  /** @maxLength 255 */
  address_line1?: string;
  /** @maxLength 255 */
  address_line2?: string;
  /** @maxLength 100 */
  address_city?: string;
  /** @maxLength 100 */
  address_state?: string;
  /** @maxLength 20 */
  address_postal_code?: string;
  /** ISO 3166 alpha-2. */
  address_country?: string;
  /** Name of the IANA database. */
  timezone?: string;
  metadata?: MetadataDto;
  /** @maxItems 100 */
  tax_rate_overrides?: TaxRateOverrideBody[];
  /** @maxItems 100 */
  integration_entity_mapping?: IntegrationEntityBody[];
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

export interface CustomerDto extends RecordDto {
  external_id: string;
  name: string;
  email: string | null;
  contact: string | null;
  address_line1: string | null;
  address_line2: string | null;
  address_city: string | null;
  address_state: string | null;
  address_postal_code: string | null;
  address_country: string | null;
  timezone: string | null;
  integrations: IntegrationDto[];
}

export interface CustomerListDto {
  items: CustomerDto[];
  pagination: PaginationDto;
}

export interface SearchCustomersBody extends SearchBody {
  /** @maxItems 1000 */
  customer_ids?: string[];
  /** @maxItems 1000 */
  external_ids?: string[];
  external_id?: string;
  email?: string;
  /** Every given pair must be there exactly. */
  metadata?: MetadataDto;
}

export function customerToDto(row: CustomerRow): CustomerDto {
  return { ...recordToDto(CUSTOMERS, row), integrations: [] };
}
