import { nullable, recordVersion, text } from '../../records/columns.js';
import type { MetadataDto, ListDto, RecordDto, SearchBody } from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  withReadColumn,
  type RecordOf,
} from '../../records/resource.js';
import {
  INTEGRATIONS_OF_CUSTOMER,
  type IntegrationDto,
  type IntegrationEntityBody,
} from './integration.resource.js';
import { findRecord } from '../../records/find-record.js';
import type { ReadUnit } from '../../records/unit.js';
import type { TaxRateOverrideBody } from '../taxes/tax-override-body.js';

/** The ids of a customer at other providers, as the unit leaves them. */
async function integrationsOf(
  unit: ReadUnit,
  { id }: Readonly<Record<string, unknown>>,
): Promise<object> {
  const row = await findRecord(unit, ANSWERED_CUSTOMERS, String(id));
  return { integrations: row === null ? [] : customerToDto(row).integrations };
}

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
    version: recordVersion,
  },
  unique: { customers_external_id: 'external_id' },
  removal: 'archived',
  announces: 'all',
  alsoTells: integrationsOf,
});
export type CustomerRow = RecordOf<typeof CUSTOMERS>;

/** Customers as they are answered, with their ids at other providers. */
export const ANSWERED_CUSTOMERS = withReadColumn(
  CUSTOMERS,
  'integrations',
  INTEGRATIONS_OF_CUSTOMER,
);
export type AnsweredCustomerRow = RecordOf<typeof ANSWERED_CUSTOMERS>;

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
  /**
   * Tax rates of the customer, in place of those of the tenant.
   * @maxItems 100
   */
  tax_rate_overrides?: TaxRateOverrideBody[];
  /** The customer's ids at other providers. @maxItems 100 */
  integration_entity_mapping?: IntegrationEntityBody[];
}

/**
 * Members that are present are changed, and null clears one; your own id of the customer never
 * changes.
 * @example {"email": "accounts@acme.example", "address_line2": null}
 */
export interface ChangeCustomerBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** @maxLength 255 */
  email?: string | null;
  /** @maxLength 20 */
  contact?: string | null;
  /** @maxLength 255 */
  address_line1?: string | null;
  /** @maxLength 255 */
  address_line2?: string | null;
  /** @maxLength 100 */
  address_city?: string | null;
  /** @maxLength 100 */
  address_state?: string | null;
  /** @maxLength 20 */
  address_postal_code?: string | null;
  /** ISO 3166 alpha-2. */
  address_country?: string | null;
  /** Name of the IANA database. Subscriptions keep the time zone that they began with. */
  timezone?: string | null;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
  /**
   * In place of all tax associations of the customer; null takes all away.
   * @maxItems 100
   */
  tax_rate_overrides?: TaxRateOverrideBody[] | null;
  /** Replaced as a whole; null takes all away. @maxItems 100 */
  integration_entity_mapping?: IntegrationEntityBody[] | null;
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
  integrations: readonly IntegrationDto[];
}

export interface CustomerListDto extends ListDto<CustomerDto> {}

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

export function customerToDto(row: AnsweredCustomerRow): CustomerDto {
  return recordToDto(ANSWERED_CUSTOMERS, row);
}
