import type { SeededRandom } from '../../../harness/seeded-random.js';
import type { OracleEvent } from '../../usage-oracle/usage-event.js';
import { randomValueText } from './random-numbers.js';
import { randomInstantIn } from './random-times.js';

const KEYS = ['a', 'b', 'B', 'é', ''];

function randomProperties(random: SeededRandom): ReadonlyMap<string, string> {
  const all: Readonly<Record<string, string>> = {
    n: randomValueText(random),
    k: random.pick(KEYS),
    region: random.pick(['eu', 'eu', 'us']),
  };
  return new Map(Object.entries(all).filter(() => !random.chance(0.08)));
}

/** Where events are told from each other only by their edges: around the given instants. */
function randomTimestamp(
  random: SeededRandom,
  life: { readonly start: number; readonly end: number },
  edges: readonly number[],
): number {
  if (edges.length > 0 && random.chance(0.25)) {
    return random.pick(edges) + random.pick([-1, 0, 1, 60_000, -60_000]);
  }
  return randomInstantIn(random, life);
}

export function randomEvents(
  random: SeededRandom,
  life: { readonly start: number; readonly end: number; readonly edges: readonly number[] },
  counts: readonly number[],
): readonly OracleEvent[] {
  const { edges } = life;
  return Array.from({ length: random.pick(counts) }, (_, index) => ({
    // Now and then the id of an earlier event, which makes it a duplicate.
    eventId: `event-${random.chance(0.05) ? random.below(index + 1) : index}`,
    eventName: random.chance(0.05) ? 'other' : 'call',
    externalCustomerId: 'customer',
    customerId: null,
    source: random.pick(['', 'web']),
    timestamp: randomTimestamp(random, life, edges),
    receipt: random.chance(0.5) ? index : 0,
    properties: randomProperties(random),
  }));
}
