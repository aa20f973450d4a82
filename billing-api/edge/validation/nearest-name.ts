/** So many letters may differ. */
const DISTANCE_MAX = 2;
/** Shorter names have neighbours by chance. */
const LENGTH_MIN = 4;

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** How many letters must be put in, taken out or replaced to make one text of the other. */
function distanceBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, place) => place);
  for (const [index, letter] of [...left].entries()) {
    const next = [index + 1];
    for (const [place, other] of [...right].entries()) {
      const [above = 0, beside = 0, before = 0] = [row[place + 1], next[place], row[place]];
      next.push(Math.min(above + 1, beside + 1, before + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? Infinity;
}

/**
 * The one of these names that a caller most likely meant: `billing_period` for `billingPeriod`,
 * `amount` for `ammount`; null when none is near. Of equally near ones it is the first.
 */
export function nearestName(name: string, names: readonly string[]): string | null {
  const wanted = plain(name.slice(0, 100));
  if (wanted.length < LENGTH_MIN) return null;
  let best: { readonly name: string; readonly distance: number } | null = null;
  for (const candidate of names) {
    const distance = distanceBetween(wanted, plain(candidate));
    if (distance <= DISTANCE_MAX && distance < (best?.distance ?? Infinity)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name ?? null;
}
