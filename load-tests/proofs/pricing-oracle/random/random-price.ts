import type { SeededRandom } from '../../../harness/seeded-random.js';
import type { Price, PriceModel, Tier } from '../subscription.js';
import { randomAmount, randomPositive } from './random-numbers.js';

function randomTiers(random: SeededRandom): readonly Tier[] {
  const bounds = new Set<number>();
  const count = random.between(0, 3);
  while (bounds.size < count) bounds.add(random.pick([1, 3, 4, 10, 20, 100, 1000, 1_000_000]));
  const upTo = [...[...bounds].sort((left, right) => left - right), null];
  return upTo.map((bound) => ({
    upTo: bound,
    unitAmount: randomAmount(random),
    flatAmount: random.chance(0.4) ? randomAmount(random) : '0',
  }));
}

function randomModel(random: SeededRandom): PriceModel {
  const roll = random.below(10);
  if (roll < 4) return { model: 'FLAT_FEE', amount: randomAmount(random) };
  if (roll < 6) {
    return {
      model: 'PACKAGE',
      amount: randomAmount(random),
      divideBy: random.pick([1, 2, 3, 7, 10, 100, 1000]),
      round: random.pick(['up', 'down']),
    };
  }
  return { model: 'TIERED', mode: random.pick(['VOLUME', 'SLAB']), tiers: randomTiers(random) };
}

/** Fiat, or one time in seven in units of a custom price unit. */
export function randomPrice(random: SeededRandom): Price {
  const unitRate = random.chance(0.15) ? randomPositive(random) : null;
  return { ...randomModel(random), unitRate };
}
