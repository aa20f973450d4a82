import { Decimal, plain } from '../../../contract/number/decimal.js';
import { amountFrom } from './price-figures.js';
import { isPriceRefusal, refuse, type PriceRefusal } from './price-refusal.js';
import { propertyFiltersProblem } from './property-filters.js';

/** The texts of a property that count. @maxItems 1000 */
export type FilterTextsBody = readonly string[];

/**
 * Property key to the texts that count; one text stands for a list of one.
 * @example {"region": ["eu", "us"], "class": "premium"}
 */
export interface FilterValuesBody {
  readonly [key: string]: string | FilterTextsBody;
}

/** Members of a price body that say which quantity it prices. */
export interface PriceQuantityBody {
  readonly meter_id?: string;
  readonly filter_values?: FilterValuesBody;
  /** @minimum 0 */
  readonly min_quantity?: number;
}

export type PriceQuantity = {
  /** Present for USAGE; a FIXED price may carry one, which is never billed. */
  readonly meterId: string | null;
  /**
   * Property key to accepted texts; empty when the price takes all events of its meter
   * (docs/domain.md 9.3).
   */
  readonly filterValues: Readonly<Record<string, readonly string[]>>;
  /** Default quantity of a FIXED line, never a minimum charge (docs/domain.md 9.1). */
  readonly minQuantity: Decimal | null;
};

/** Reads which quantity the price of a body prices. */
export function quantityFrom(body: PriceQuantityBody): PriceQuantity | PriceRefusal {
  const filterValues = filterValuesFrom(body);
  const remedy = propertyFiltersProblem(filterValues);
  if (remedy !== null) return refuse('filter_values_malformed', 'filter_values', remedy);
  const minQuantity = minQuantityFrom(body);
  if (minQuantity !== null && isPriceRefusal(minQuantity)) return minQuantity;
  return { meterId: body.meter_id ?? null, filterValues, minQuantity };
}

/** One text is a list of one (docs/domain.md 9.3). */
function filterValuesFrom(body: PriceQuantityBody): PriceQuantity['filterValues'] {
  const entries = Object.entries(body.filter_values ?? {});
  const lists = entries.map(([key, value]) => [key, typeof value === 'string' ? [value] : value]);
  return Object.fromEntries(lists);
}

/** An explicit 0 counts as absent (docs/domain.md 3.2). */
function minQuantityFrom({
  min_quantity: number = 0,
}: PriceQuantityBody): Decimal | PriceRefusal | null {
  if (number === 0) return null;
  if (number < 0) {
    return refuse('min_quantity_negative', 'min_quantity', 'give a quantity of 0 or more');
  }
  return amountFrom(plain(new Decimal(number)), 'min_quantity');
}
