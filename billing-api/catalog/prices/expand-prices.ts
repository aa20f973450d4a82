import { assertPresent } from '../../../runtime/failure.js';
import type { UnitSymbols } from '../../domain/price/price-unit.js';
import { expandRecords, type Expanded } from '../../records/expand-record.js';
import type { ReadUnit } from '../../records/unit.js';
import { findSymbolsOfPrices } from '../price-units/price-units-store.js';
import {
  PRICE_EXPANSIONS,
  type ExpandedPriceDto,
  type PriceExpansionsDto,
} from './price-expansions.js';
import { priceToDto, type PriceRow } from '../../declarations/catalog/price.resource.js';

export type ExpandedPrice = Expanded<PriceRow, PriceExpansionsDto> & {
  readonly symbols: UnitSymbols;
};

/** Prices with the symbols of the units that they are in. */
export async function withSymbols(
  unit: ReadUnit,
  prices: readonly Expanded<PriceRow, PriceExpansionsDto>[],
): Promise<readonly ExpandedPrice[]> {
  const rows = prices.map(({ row }) => row);
  const symbols = await findSymbolsOfPrices(unit, rows);
  return prices.map((price) => ({ ...price, symbols }));
}

/** Prices with everything that they refer to. */
export async function expandPrices(
  unit: ReadUnit,
  rows: readonly PriceRow[],
): Promise<readonly ExpandedPrice[]> {
  const wanted = { expansions: PRICE_EXPANSIONS, names: 'all' } as const;
  const prices = await expandRecords(unit, rows, wanted);
  return withSymbols(unit, prices);
}

/** As `expandPrices`, for one. */
export async function expandPrice(unit: ReadUnit, row: PriceRow): Promise<ExpandedPrice> {
  const prices = await expandPrices(unit, [row]);
  return assertPresent(prices[0], 'the price');
}

export function expandedPriceToDto({ row, expansions, symbols }: ExpandedPrice): ExpandedPriceDto {
  return { ...priceToDto(row, symbols), ...expansions };
}
