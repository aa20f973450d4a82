import { z } from 'zod';
import { integerColumn } from './columns.js';
import type { Database } from './pool.js';
import { statement } from './statement.js';

const countAsynchronous = statement(
  'count-asynchronous-standbys',
  z.object({ found: integerColumn }),
);

/**
 * Why a failover may set checkpoints back, and what to do; null when the server has no standby, or
 * commits only what one of them has, too. @throws DependencyError.
 */
export async function asynchronousStandbys({
  slonik,
}: Pick<Database, 'slonik'>): Promise<string | null> {
  const { found } = await slonik.one(countAsynchronous({}));
  if (found === 0) return null;
  return (
    `PostgreSQL has ${found} standbys, all of them asynchronous: a failover may lose the last commits, and ` +
    'with them how far partitions are counted; set synchronous_standby_names (docs/operations.md 7)'
  );
}
