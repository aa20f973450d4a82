import { DependencyError } from '../runtime/failure.js';

/** Runs `work` as soon as it is its turn. */
export type Places = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * So many at a time, in the order in which they came. Who has waited too long is turned away: the
 * queue of slonik has no bound in time, and after all connections were lost nobody serves it until
 * a later caller gets a connection.
 */
export function createPlaces(count: number, waitMaxMs: number): Places {
  const waiting = new Set<() => void>();
  let free = count;

  const wait = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const enter = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(enter);
        const message = `PostgreSQL: no connection became free within ${waitMaxMs / 1_000} s`;
        reject(new DependencyError(message, { dependency: 'postgres', isRetryable: true }));
      }, waitMaxMs);
      waiting.add(enter);
    });

  const leave = (): void => {
    const [next] = waiting;
    if (next === undefined) {
      free += 1;
      return;
    }
    waiting.delete(next);
    next();
  };

  return async (work) => {
    if (free > 0) free -= 1;
    else await wait();
    try {
      return await work();
    } finally {
      leave();
    }
  };
}
