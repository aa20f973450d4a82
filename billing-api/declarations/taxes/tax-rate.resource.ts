import { decimal, nullable, oneOf, recordVersion, text } from '../../records/columns.js';
import type {
  DecimalText,
  MetadataDto,
  PaginationDto,
  RecordDto,
} from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';

export const TAX_RATES = defineResource({
  name: 'tax rate',
  idPrefix: 'taxrate',
  table: 'tax_rates',
  columns: {
    name: text,
    code: text,
    description: nullable(text),
    tax_rate_type: oneOf(['percentage', 'fixed']),
    percentage_value: nullable(decimal),
    fixed_value: nullable(decimal),
    scope: oneOf(['INTERNAL', 'EXTERNAL', 'ONETIME']),
    tax_rate_status: oneOf(['ACTIVE', 'INACTIVE']),
    version: recordVersion,
  },
  unique: { tax_rates_code: 'code' },
  removal: 'archived',
});
export type TaxRateRow = RecordOf<typeof TAX_RATES>;
export type NewTaxRate = NewRecord<(typeof TAX_RATES)['columns']>;

/** A tax. It taxes whatever it is associated with, while it is ACTIVE. */
export interface TaxRateDto extends RecordDto {
  name: string;
  code: string;
  description: string | null;
  tax_rate_type: 'percentage' | 'fixed';
  percentage_value: DecimalText | null;
  /** Money of the invoice's currency, rounded when it is applied. */
  fixed_value: DecimalText | null;
  scope: 'INTERNAL' | 'EXTERNAL' | 'ONETIME';
  tax_rate_status: 'ACTIVE' | 'INACTIVE';
}

export interface TaxRateListDto {
  items: TaxRateDto[];
  pagination: PaginationDto;
}

/**
 * Exactly one of the two values.
 * @example {"name": "VAT Germany", "code": "DE-19", "percentage_value": "19"}
 */
export interface CreateTaxRateBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  /** What associations name. @minLength 1 @maxLength 255 */
  code: string;
  /** 0 or more. */
  percentage_value?: DecimalText;
  /** 0 or more. */
  fixed_value?: DecimalText;
  /** Follows from the value that is given. */
  tax_rate_type?: 'percentage' | 'fixed';
  /** @default "INTERNAL" */
  scope?: 'INTERNAL' | 'EXTERNAL' | 'ONETIME';
  /** @maxLength 10000 */
  description?: string;
  metadata?: MetadataDto;
}

/**
 * Members that are present are changed. The value cannot change while the rate has an association.
 * @example {"name": "VAT", "tax_rate_status": "INACTIVE"}
 */
export interface ChangeTaxRateBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** Null clears it. @maxLength 10000 */
  description?: string | null;
  /** An INACTIVE rate taxes nothing. */
  tax_rate_status?: 'ACTIVE' | 'INACTIVE';
  /** In place of whichever value it has. */
  percentage_value?: DecimalText;
  /** In place of whichever value it has. */
  fixed_value?: DecimalText;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}

export function taxRateToDto(row: TaxRateRow): TaxRateDto {
  return recordToDto(TAX_RATES, row);
}
