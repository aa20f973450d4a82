import { sql } from 'slonik';
import { decimalOf } from '../../../contract/number/decimal.js';
import type { PriceUnitTerms, UnitSymbols } from '../../domain/price/price-unit.js';
import { isOfEnvironment } from '../../records/conditions.js';
import { findRecords } from '../../records/find-record.js';
import type { StatementUnit, Transaction } from '../../records/unit.js';
import { PRICE_UNITS } from '../../declarations/catalog/price-unit.resource.js';

/** Published price units by their code. */
export type PriceUnitsByCode = ReadonlyMap<string, PriceUnitTerms>;

/**
 * The published price units with these codes; until the transaction ends nobody can archive one of
 * them, so that a price can refer to it.
 */
export async function findPriceUnitsForUse(
  transaction: Transaction,
  codes: readonly string[],
): Promise<PriceUnitsByCode> {
  if (codes.length === 0) return new Map();
  const rows = await transaction.any(sql.type(PRICE_UNITS.row)`
    SELECT * FROM price_units
    WHERE code = ANY (${sql.array([...new Set(codes)], 'text')}) AND status = 'published'
      AND ${isOfEnvironment}
    ORDER BY id FOR KEY SHARE`);
  const terms = rows.map(({ id, code, base_currency: baseCurrency, conversion_rate: rate }) => ({
    id,
    code,
    baseCurrency,
    conversionRate: decimalOf(rate),
  }));
  return new Map(terms.map((unit) => [unit.code, unit]));
}

/** The symbols of the units that prices are in. */
export async function findSymbolsOfPrices(
  unit: StatementUnit,
  prices: Iterable<{ readonly price_unit_id: string | null }>,
): Promise<UnitSymbols> {
  const ids = [...prices].flatMap((price) => price.price_unit_id ?? []);
  const units = await findRecords(unit, PRICE_UNITS, ids);
  return new Map([...units].map(([id, { symbol }]) => [id, symbol]));
}
