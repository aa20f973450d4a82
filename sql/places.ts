import { DependencyError } from '../runtime/failure.js';
import { FairQueue, NotBegun } from '../runtime/fair-queue.js';

/** Runs `work` on behalf of a tenant as soon as it is its turn; empty for work of the program. */
export type Places = <T>(tenant: string, work: () => Promise<T>) => Promise<T>;

/**
 * So many at a time. Tenants take turns, and none has more than half of the places, so that one
 * whose statements wait for each other leaves the others theirs. What belongs to no tenant may take
 * all. Who has waited too long is turned away: the queue of slonik has no bound in time, and after
 * all connections were lost nobody serves it until a later caller gets a connection.
 */
export function createPlaces(count: number, waitMaxMs: number): Places {
  const queue = new FairQueue({
    runningMax: count,
    runningPerKeyMax: Math.ceil(count / 2),
    runningWithoutKeyMax: count,
    waitingPerKeyMax: Number.MAX_SAFE_INTEGER,
    waitMsMax: waitMaxMs,
  });
  return async (tenant, work) => {
    try {
      return await queue.run(tenant, work);
    } catch (error) {
      if (!(error instanceof NotBegun)) throw error;
      const message = `PostgreSQL: no connection became free within ${waitMaxMs / 1_000} s`;
      throw new DependencyError(message, { dependency: 'postgres', isRetryable: true });
    }
  };
}
