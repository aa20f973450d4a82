import type { SeededRandom } from '../../../harness/seeded-random.js';

const TINY = ['0.000000000000000001', '0.000001', '0.0025', '0.004', '0.005', '0.01'];
const PLAIN = ['0.1', '0.333333333333333333', '1', '1', '2', '2.5', '7', '10', '99.99', '100'];
const HUGE = ['12345.678901', '1000000', '999999999999.999999', '1000000000000'];

function digits(random: SeededRandom, count: number): string {
  return Array.from({ length: count }, () => random.below(10)).join('');
}

/**
 * A decimal text as a request may have it: up to 10^12 and 18 fraction digits (docs/domain.md 3.1).
 */
export function randomAmount(random: SeededRandom): string {
  const roll = random.below(20);
  if (roll < 1) return '0';
  if (roll < 4) return random.pick(TINY);
  if (roll < 11) return random.pick(PLAIN);
  if (roll < 13) return random.pick(HUGE);
  const whole = String(random.below(10 ** random.between(0, 6)));
  const places = random.between(0, roll < 18 ? 4 : 18);
  return places === 0 ? whole : `${whole}.${digits(random, places)}`;
}

/** As `randomAmount`, but never 0. */
export function randomPositive(random: SeededRandom): string {
  const amount = randomAmount(random);
  return /[1-9]/.test(amount) ? amount : '1';
}

export function randomFactor(random: SeededRandom): string {
  return random.pick(['1', '1', '1.000000000000000001', '1.2', '1.5', '2', '3.333', '10']);
}

/** What a property of an event says; not always a number that counts. */
export function randomValueText(random: SeededRandom): string {
  const roll = random.below(20);
  if (roll < 9) return String(random.between(1, 20));
  if (roll < 12) return `${random.between(0, 300)}.${digits(random, random.between(1, 4))}`;
  if (roll < 15) return random.pick(['0.5', '1.50', '100', '1000', '1000.001', '99.999999']);
  if (roll < 18) return random.pick(['1e-18', '0.333333333333333333', '1e12', '25e-1', '1e6']);
  return random.pick(['-4', 'abc', '', '0', '0.0000000000000000019']);
}
