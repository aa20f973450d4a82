import type { Occasion } from './occasion.js';
import { answerOf, isRefusal, Refusal, Refused } from './refusal.js';
import { writeUnit, type Unit, type WriteDependencies } from './unit.js';

/** Computations before the caller is told to try again. */
export const COMPUTATIONS_MAX = 3;

/** How something is computed outside of the transaction that stores it. */
export type ComputeThenStore<Computed, Held extends object, Stored> = {
  /** What is stored, as messages name it: `the invoice`. */
  readonly what: string;
  /**
   * Reads and computes. It may ask ClickHouse and take its time: nothing is locked meanwhile. A
   * refusal that it throws is answered.
   */
  readonly compute: () => Promise<Computed | Refusal>;
  /**
   * Locks every record that the computation depends on, and compares it with what `compute` read:
   * its version, and that no other record has come. Returns what it locked, or null when something
   * has changed.
   */
  readonly lockAndCompare: (unit: Unit, computed: Computed) => Promise<Held | null>;
  /** Writes what was computed. The records that are held change only when the unit has ended. */
  readonly store: (unit: Unit, computed: Computed, held: Held) => Promise<Stored>;
};

/** Ends a unit that finds its records changed; never leaves this file. */
const CHANGED = new Refusal('version_conflict', 'changed');

/**
 * Computes outside of any transaction; then locks, compares and stores inside one unit. So nothing
 * is stored that was computed from records which others have changed meanwhile: it is computed
 * again, from what they left, up to `COMPUTATIONS_MAX` times in all. After that it is refused with
 * version_conflict, and nothing is stored. `lockAndCompare` and `store` may run several times, as
 * the work of every unit, so they must do nothing but SQL.
 */
export async function computeThenStore<Computed, Held extends object, Stored>(
  dependencies: WriteDependencies,
  occasion: Occasion,
  { what, compute, lockAndCompare, store }: ComputeThenStore<Computed, Held, Stored>,
): Promise<Stored | Refusal> {
  for (let computations = 0; computations < COMPUTATIONS_MAX; computations += 1) {
    const computed = await answerOf(compute);
    if (isRefusal(computed)) return computed;
    const stored = await writeUnit(dependencies, occasion, async (unit) => {
      const held = await lockAndCompare(unit, computed);
      if (held === null) throw new Refused(CHANGED);
      return store(unit, computed, held);
    });
    if (stored !== CHANGED) return stored;
  }
  const problem = `what ${what} is computed from was changed while it was computed`;
  return new Refusal('version_conflict', `${problem}, ${COMPUTATIONS_MAX} times; try again`);
}
