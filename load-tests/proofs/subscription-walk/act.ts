import type { Life } from './model/life.js';
import type { WalkWorld, Answer } from './walk-world.js';

/** What one command draws: each operation takes of it what it needs. */
export type Draws = {
  readonly who: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly hours: number;
};

/** One request, and what the model does when it is accepted. */
export type Act = {
  readonly says: string;
  readonly path: string;
  readonly method?: 'PUT' | 'DELETE';
  readonly body: object;
  /** False: the rules refuse it with 400. */
  readonly isLegal: boolean;
  readonly apply: (answer: Answer) => Promise<void> | void;
};

/** A random operation on one subscription; null where it does not go with its state. */
export type Operation = (
  world: WalkWorld,
  life: Life,
  draws: Draws,
) => Promise<Act | null> | Act | null;

const HOUR_MS = 3_600_000;

export const iso = (at: number): string => new Date(at).toISOString();

export function pick<T>(items: readonly T[], draw: number): T {
  const item = items[draw % items.length];
  if (item === undefined) throw new RangeError('nothing to pick from');
  return item;
}

/** A time after now: whole hours in an exact world, else milliseconds. */
export function spanOf({ fineness, pace }: WalkWorld, { hours, c }: Draws): number {
  return (1 + hours * pace) * HOUR_MS + (fineness === 'exact' ? 0 : c * 997);
}

export const pathOf = ({ ids }: WalkWorld, { id }: Life): string =>
  `/v1/subscriptions/${ids.get(id)}`;

/**
 * A short first period that is charged in full has shares that are no whole cents, so an exact
 * world has none.
 */
export function isScaled({ fineness }: WalkWorld, cycle: string): boolean {
  return fineness === 'exact' && cycle === 'calendar';
}
