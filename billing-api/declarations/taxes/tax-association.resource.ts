import { assertPresent } from '../../../runtime/failure.js';
import {
  flag,
  instant,
  integer,
  nullable,
  oneOf,
  recordVersion,
  text,
} from '../../records/columns.js';
import { findRecords } from '../../records/find-record.js';
import type {
  Currency,
  DateTime,
  MetadataDto,
  ListDto,
  RecordDto,
} from '../../records/record-dto.js';
import {
  defineResource,
  recordToDto,
  type NewRecord,
  type RecordOf,
} from '../../records/resource.js';
import type { ReadUnit } from '../../records/unit.js';
import type { TaxRateDto } from '../../generated/standard/tax-rate-types.js';
import { TAX_RATES, taxRateToDto, type TaxRateRow } from './tax-rate.resource.js';

export const TAX_ASSOCIATIONS = defineResource({
  name: 'tax association',
  idPrefix: 'ta',
  table: 'tax_associations',
  columns: {
    tax_rate_id: text,
    entity_type: oneOf(['tenant', 'customer', 'subscription', 'invoice']),
    entity_id: text,
    priority: integer,
    currency: nullable(text),
    auto_apply: flag,
    start_date: nullable(instant),
    end_date: nullable(instant),
    version: recordVersion,
  },
  references: { tax_rate_id: TAX_RATES },
  removal: 'archived',
});
export type TaxAssociationRow = RecordOf<typeof TAX_ASSOCIATIONS>;
export type NewTaxAssociation = NewRecord<(typeof TAX_ASSOCIATIONS)['columns']>;

export const PRIORITY_DEFAULT = 100;

/** A tax rate on the invoices of the tenant, a customer or a subscription. */
export interface TaxAssociationDto extends RecordDto {
  tax_rate_id: string;
  tax_rate: TaxRateDto;
  entity_type: 'tenant' | 'customer' | 'subscription' | 'invoice';
  entity_id: string;
  /** Lower comes first. @isInt */
  priority: number;
  /** Null: invoices of every currency. */
  currency: Currency | null;
  /** One of the tenant without it taxes nothing. */
  auto_apply: boolean;
  start_date: DateTime | null;
  end_date: DateTime | null;
}

export interface TaxAssociationListDto extends ListDto<TaxAssociationDto> {}

/**
 * @example {"tax_rate_code": "DE-19", "entity_type": "customer", "entity_id":
 *   "cust_01KAHZ3M4N5P6Q7R8S9T0V1W2X"}
 */
export interface CreateTaxAssociationBody {
  /** A published tax rate. @minLength 1 @maxLength 255 */
  tax_rate_code: string;
  /** Required without `external_customer_id`. `invoice` is not available yet. */
  entity_type?: 'tenant' | 'customer' | 'subscription' | 'invoice';
  /** Required for a customer and a subscription; of a tenant it is your own. */
  entity_id?: string;
  /** In place of type and id of a customer. @maxLength 255 */
  external_customer_id?: string;
  /**
   * @isInt
   * @minimum 0
   * @maximum 1000000
   * @default 100
   */
  priority?: number;
  /** Only invoices of this currency. */
  currency?: Currency;
  /** @default true */
  auto_apply?: boolean;
  start_date?: DateTime;
  end_date?: DateTime;
  metadata?: MetadataDto;
}

/**
 * Members that are present are changed.
 * @example {"priority": 10, "end_date": "2026-12-31T00:00:00Z"}
 */
export interface ChangeTaxAssociationBody {
  /**
   * @isInt
   * @minimum 0
   * @maximum 1000000
   */
  priority?: number;
  auto_apply?: boolean;
  /** Null takes it away. */
  end_date?: DateTime | null;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}

/** An association with its rate, whatever the status of that has become. */
export type AssociatedTax = {
  readonly association: TaxAssociationRow;
  readonly rate: TaxRateRow;
};

/** These associations, in their order, with their rates. */
export async function withTaxRates(
  unit: ReadUnit,
  associations: readonly TaxAssociationRow[],
): Promise<readonly AssociatedTax[]> {
  const ids = associations.map((row) => row.tax_rate_id);
  const rates = await findRecords(unit, TAX_RATES, ids);
  return associations.flatMap((association) => {
    const rate = rates.get(association.tax_rate_id);
    return rate === undefined ? [] : [{ association, rate }];
  });
}

/** This association with its rate. */
export async function withTaxRate(unit: ReadUnit, row: TaxAssociationRow): Promise<AssociatedTax> {
  const [associated] = await withTaxRates(unit, [row]);
  return assertPresent(associated, 'the tax rate of an association');
}

/** A tax association that was archived. */
export interface ArchivedTaxAssociationDto extends TaxAssociationDto {
  message: string;
}

export function taxAssociationToDto({ association, rate }: AssociatedTax): TaxAssociationDto {
  return { ...recordToDto(TAX_ASSOCIATIONS, association), tax_rate: taxRateToDto(rate) };
}
