import { sql, type CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { integerColumn } from '../../sql/columns.js';

/** How many sessions of the database wait for a row or a table that another one has locked. */
export async function waitingSessions(connection: Pick<CommonQueryMethods, 'query' | 'oneFirst'>) {
  // Within a transaction PostgreSQL answers what it found first, unless it is told to forget that.
  await connection.query(sql.type(z.unknown())`SELECT pg_stat_clear_snapshot()`);
  return connection.oneFirst(sql.type(z.object({ count: integerColumn }))`
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`);
}
