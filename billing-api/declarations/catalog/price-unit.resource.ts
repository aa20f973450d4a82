import { decimal, recordVersion, text } from '../../records/columns.js';
import type {
  Currency,
  DecimalText,
  MetadataDto,
  PaginationDto,
  RecordDto,
  SearchBody,
} from '../../records/record-dto.js';
import { defineResource, recordToDto, type RecordOf } from '../../records/resource.js';

export const PRICE_UNITS = defineResource({
  name: 'price unit',
  idPrefix: 'price_unit',
  table: 'price_units',
  columns: {
    name: text,
    code: text,
    symbol: text,
    base_currency: text,
    conversion_rate: decimal,
    version: recordVersion,
  },
  unique: { price_units_code: 'code' },
  removal: 'archived',
});
export type PriceUnitRow = RecordOf<typeof PRICE_UNITS>;

export interface PriceUnitDto extends RecordDto {
  name: string;
  code: string;
  symbol: string;
  base_currency: string;
  conversion_rate: DecimalText;
}

export function priceUnitToDto(row: PriceUnitRow): PriceUnitDto {
  return recordToDto(PRICE_UNITS, row);
}

/**
 * A currency of your own, with its rate to a real one.
 * @example {"name": "Tokens", "code": "tokens", "symbol": "T", "base_currency": "usd",
 *   "conversion_rate": "0.01"}
 */
export interface CreatePriceUnitBody {
  /** @minLength 1 @maxLength 255 */
  name: string;
  /** @pattern ^[A-Za-z0-9_]{1,20}$ */
  code: string;
  /** @minLength 1 @maxLength 20 */
  symbol: string;
  base_currency: Currency;
  /** Money per unit, greater than 0: a token worth 0.01 usd has "0.01". */
  conversion_rate: DecimalText;
  metadata?: MetadataDto;
}

/**
 * Members that are present are changed; code, currency and rate never change.
 * @example {"name": "Credits", "symbol": "C"}
 */
export interface ChangePriceUnitBody {
  /** @minLength 1 @maxLength 255 */
  name?: string;
  /** @minLength 1 @maxLength 20 */
  symbol?: string;
  /** Replaced as a whole; null takes all away. */
  metadata?: MetadataDto | null;
}

export interface SearchPriceUnitsBody extends SearchBody {
  /** @maxItems 1000 */
  price_unit_ids?: string[];
}

export interface PriceUnitListDto {
  items: PriceUnitDto[];
  pagination: PaginationDto;
}
