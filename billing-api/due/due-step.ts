import type { JobActor, Occasion } from '../records/occasion.js';
import { mustWrite, type Unit, type WriteDependencies } from '../records/unit.js';
import type { DueQuery } from './due-items.js';

/** A kind of record that falls due, and what is done about it in one transaction. */
export type DueStep = {
  /** The job of a single one that failed, whose key is the one; `take` leaves it out. */
  readonly job: string;
  /**
   * Takes those that are due and does what is due.
   * @param seen is told which they are, before anything is done to them.
   */
  readonly take: (
    unit: Unit,
    due: DueQuery,
    seen: (ids: readonly string[]) => void,
  ) => Promise<number>;
  /** Whether one that was done may be due again at once, as what has to catch up. */
  readonly isRepeated: boolean;
};

/** Declares a step. */
export function dueStep<Item>({
  job,
  find,
  idOf,
  settle,
  isRepeated = false,
}: {
  readonly job: string;
  /** Locks what is due, so that no other run takes it, earliest first. */
  readonly find: (unit: Unit, due: DueQuery) => Promise<readonly Item[]>;
  readonly idOf: (item: Item) => string;
  readonly settle: (unit: Unit, items: readonly Item[]) => Promise<void>;
  readonly isRepeated?: boolean;
}): DueStep {
  return {
    job,
    isRepeated,
    take: async (unit, due, seen) => {
      const items = await find(unit, due);
      seen(items.map(idOf));
      if (items.length === 0) return 0;
      await settle(unit, items);
      return items.length;
    },
  };
}

/** Does each of several items, until one is refused. */
export function oneByOne<Item>(
  settle: (unit: Unit, item: Item) => Promise<void>,
): (unit: Unit, items: readonly Item[]) => Promise<void> {
  return async (unit, items) => {
    for (const item of items) await settle(unit, item);
  };
}

/** What a transaction of a step has done; those that it has seen may have failed together. */
export type StepTaken = {
  readonly seen: readonly string[];
  /** Null when nothing was done because of it. */
  readonly error: unknown;
};

/** Does what is due of a step in one transaction: all of it, or nothing and the error. */
export async function takeStep(
  dependencies: WriteDependencies,
  occasion: Occasion<JobActor>,
  { step, due }: { readonly step: DueStep; readonly due: DueQuery },
): Promise<StepTaken> {
  let seen: readonly string[] = [];
  const note = (ids: readonly string[]): void => {
    seen = ids;
  };
  try {
    await mustWrite(dependencies, occasion, (unit) => step.take(unit, due, note));
    return { seen, error: null };
  } catch (error) {
    return { seen, error };
  }
}
