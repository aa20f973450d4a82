import { HOSTILE_DATES, HOSTILE_NUMBERS, HOSTILE_TEXTS } from '../../harness/hostile-values.js';
import type { SeededRandom } from '../../harness/seeded-random.js';
import { isJson, type Json } from './document.js';

/** Stands in a value for a number whose digits JSON.stringify would change. */
const NUMBER_MARK = '#number:';

function hostileValue(random: SeededRandom): unknown {
  const kind = random.below(8);
  if (kind < 3) return random.pick(HOSTILE_TEXTS);
  if (kind === 3) return random.pick(HOSTILE_DATES);
  if (kind === 4) return `${NUMBER_MARK}${random.pick(HOSTILE_NUMBERS)}`;
  return random.pick<unknown>([null, true, false, [], {}, [[]], [null], { a: null }, -1, 0.5, '']);
}

function brokenObject(random: SeededRandom, value: Json): unknown {
  const names = Object.keys(value);
  const name = names.length === 0 ? 'extra' : random.pick(names);
  switch (random.below(4)) {
    case 0:
      return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name));
    case 1:
      return Object.fromEntries([
        ...Object.entries(value),
        [random.pick(['extra', '__proto__', '', 'constructor', 'a.b']), hostileValue(random)],
      ]);
    default:
      return Object.fromEntries(
        Object.entries(value).map(([each, inner]) => [
          each,
          each === name ? breakValue(random, inner) : inner,
        ]),
      );
  }
}

function brokenList(random: SeededRandom, value: readonly unknown[]): unknown {
  if (value.length === 0 || random.chance(0.2)) return [...value, hostileValue(random)];
  if (random.chance(0.2))
    return Array.from({ length: random.pick([2, 101, 1001]) }, () => value[0]);
  const at = random.below(value.length);
  return value.map((each, index) => (index === at ? breakValue(random, each) : each));
}

/** The value with one thing wrong somewhere in it: type, bound, form, a missing or extra member. */
export function breakValue(random: SeededRandom, value: unknown): unknown {
  if (random.chance(0.1)) return hostileValue(random);
  if (Array.isArray(value)) return brokenList(random, value);
  if (isJson(value)) return brokenObject(random, value);
  return hostileValue(random);
}

/** The text of a value, sometimes damaged so that it is no JSON any more. */
export function bodyText(random: SeededRandom, value: unknown, isDamaged: boolean): string {
  const text = JSON.stringify(value).replaceAll(/"#number:([^"]*)"/g, '$1');
  if (!isDamaged) return text;
  const at = random.below(text.length + 1);
  const tail = text.slice(at);
  return text.slice(0, at) + random.pick(['', '\u0000', '\\ud800', '{', `,${tail}`, `NaN${tail}`]);
}
