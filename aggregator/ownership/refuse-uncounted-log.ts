import { z } from 'zod';
import { ConfigError } from '../../runtime/config.js';
import { integerColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';

const countUncountedRecords = statement(
  'count-uncounted-records',
  z.object({ log_id: z.string(), records: integerColumn }),
);

/**
 * For a process that reads Kafka: records that were accepted into the log in PostgreSQL before, and
 * were not counted, would wait there unseen.
 * @throws ConfigError that says how they are counted; DependencyError when PostgreSQL fails.
 */
export async function refuseUncountedLog({ slonik }: Pick<Database, 'slonik'>): Promise<void> {
  const waiting = (await slonik.maybeOne(countUncountedRecords()))?.records ?? 0;
  if (waiting === 0) return;
  throw new ConfigError([
    `KAFKA_BROKERS is set, but ${waiting} records of the log in PostgreSQL are not counted yet: start an aggregator without KAFKA_BROKERS until they are counted, stop it, then run \`minutebook log close\` (docs/operations.md 3.2)`,
  ]);
}
