import type { InstantMs } from '../../../contract/instant.js';
import type { Expansion } from '../../records/expand-record.js';
import { accept, invalid, type Refusal, Refused } from '../../records/refusal.js';
import type { ReadUnit } from '../../records/unit.js';
import { findSymbolsOfPrices } from '../price-units/price-units-store.js';
import {
  priceToDto,
  type PriceDto,
  type PriceRow,
} from '../../declarations/catalog/price.resource.js';
import { findLivePrices } from './prices-store.js';
import { byOwner } from '../../owners/by-owner.js';

/**
 * Live prices that the owners of one answer may have together: twice what one owner may have. An
 * answer of so many takes about 10 MB; all of a page of a thousand plans would be five million.
 */
const LIVE_PRICES_OF_ANSWER_MAX = 10_000;

/** At which instant the prices of owners are live, and how many one answer may need. */
export type LivePricesQuery = {
  readonly now: InstantMs;
  readonly pricesMax?: number | undefined;
};

type Owner = { readonly id: string };

/** Reads the live prices of the owners of an answer, or refuses so many of them. */
export type ReadLivePrices = (
  unit: ReadUnit,
  owners: readonly Owner[],
) => Promise<readonly PriceRow[]>;

/**
 * Reads the live prices of owners at one instant, once for all expansions of an answer.
 * @param words how the refusal names the owners, and the expansions that need their prices.
 */
export function createLivePricesReader(
  { now, pricesMax = LIVE_PRICES_OF_ANSWER_MAX }: LivePricesQuery,
  words: { readonly owners: string; readonly expansions: string },
): ReadLivePrices {
  let found: Promise<readonly PriceRow[] | Refusal> | null = null;
  const find: ReadLivePrices = async ({ tx }, owners) => {
    const entityIds = owners.map(({ id }) => id);
    const prices = await findLivePrices(tx, { entityIds, now, rowsMax: pricesMax + 1 });
    if (prices.length <= pricesMax) return prices;
    throw new Refused(
      invalid({
        limit:
          `the ${words.owners} of this page have more than ${pricesMax} live prices together: ask ` +
          `for fewer ${words.owners}, or leave ${words.expansions} out of expand`,
      }),
    );
  };
  return async (unit, owners) => accept(await (found ??= find(unit, owners)));
}

/** Expands `prices`: the live ones, oldest first. */
export function expandLivePrices(read: ReadLivePrices): Expansion<Owner, PriceDto[]> {
  return async (unit, owners) => {
    const live = await read(unit, owners);
    const prices = byOwner(live);
    const symbols = await findSymbolsOfPrices(unit, live);
    // Absent means none: the owner has no live price.
    return ({ id }) => (prices.get(id) ?? []).map((row) => priceToDto(row, symbols));
  };
}
