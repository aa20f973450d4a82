import { grouped } from './section.js';

/** The middle value; of an even number the mean of the two. NaN of none. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const [lower, upper] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return ((lower ?? Number.NaN) + (upper ?? Number.NaN)) / 2;
}

/** One digit behind the point below a hundred, none above. */
export const textOf = (value: number): string => (value < 100 ? value.toFixed(1) : grouped(value));

/** `median (least..greatest)`. */
export function spreadText(values: readonly number[]): string {
  if (values.length === 0) return 'no figure';
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  return `${textOf(medianOf(values))} (${textOf(least)}..${textOf(greatest)})`;
}
