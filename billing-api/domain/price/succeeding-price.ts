import type { InstantMs } from '../../../contract/instant.js';
import { overridePrice } from './complete-price.js';
import type { PriceModelBody, PriceOverrideBody } from './price-model.js';
import { isPriceRefusal, refuse, type PriceRefusal } from './price-refusal.js';
import type { PriceUnitConfigBody } from './price-unit.js';
import type { PriceTerms } from './price.js';

/** The members of a price that decide its charges: a change of one makes a successor. */
export interface PriceChangeBody extends PriceModelBody {
  /** Of a price in a price unit, which stays the same. */
  readonly price_unit_config?: PriceUnitConfigBody;
}

/** The figures of a price unit as an override names them; those in fiat stay beside them. */
function overrideFrom({ price_unit_config: config, ...model }: PriceChangeBody): PriceOverrideBody {
  return {
    ...model,
    ...(config?.amount === undefined ? {} : { price_unit_amount: config.amount }),
    ...(config?.price_unit_tiers === undefined
      ? {}
      : { price_unit_tiers: config.price_unit_tiers }),
  };
}

/** A price in money stays one, and one in a price unit keeps the unit. */
function unitRefusal(
  { priceUnitFigures: figures }: PriceTerms,
  { price_unit_config: config, amount, tiers }: PriceChangeBody,
): PriceRefusal | null {
  if (figures !== null && (amount ?? tiers) !== undefined) {
    const remedy = 'leave it out: a price in a price unit has its figures in price_unit_config';
    return refuse('figures_in_money', amount === undefined ? 'tiers' : 'amount', remedy);
  }
  if (config === undefined) return null;
  if (figures === null) {
    const remedy = 'leave it out: the price is not in a price unit';
    return refuse('price_unit_forbidden', 'price_unit_config', remedy);
  }
  if (config.price_unit === figures.priceUnit) return null;
  const remedy = `give ${figures.priceUnit}: the unit of a price never changes`;
  return refuse('price_unit_changed', 'price_unit_config.price_unit', remedy);
}

/** A refusal about a figure in a price unit, with the member in which a change has it. */
function inConfig(refusal: PriceRefusal): PriceRefusal {
  const member = refusal.member
    .replace(/^price_unit_amount/, 'price_unit_config.amount')
    .replace(/^price_unit_tiers/, 'price_unit_config.price_unit_tiers');
  return { ...refusal, member };
}

/**
 * The price that takes the place of another one from an instant on (docs/domain.md 9.6): the same,
 * but for its start and the members that the change gives. It ends when the other one would have,
 * and keeps the rate of its price unit.
 */
export function succeedingPrice(
  base: PriceTerms,
  change: PriceChangeBody,
  startMs: InstantMs,
): PriceTerms | PriceRefusal {
  const refusal = unitRefusal(base, change);
  if (refusal !== null) return refusal;
  const { entityType, entityId } = base;
  const owner = { entityType, entityId };
  const terms = overridePrice({ ...base, startMs }, overrideFrom(change), owner);
  return isPriceRefusal(terms) ? inConfig(terms) : terms;
}
