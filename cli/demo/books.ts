import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { integerColumn } from '../../sql/columns.js';

/** What became of the accepted events, straight from the tables of the aggregator. */
export type Books = { readonly counted: number; readonly duplicates: number };

const booksRow = z.object({ counted: integerColumn, duplicates: integerColumn });

/** Distinct events kept, and repeats that counted nothing. @throws DependencyError. */
export async function readBooks(clickhouse: ClickHouse): Promise<Books> {
  const rows = await clickhouse.query(
    `SELECT (SELECT count() FROM events_v1) AS counted,
            (SELECT count() FROM event_duplicates_v1 FINAL) AS duplicates`,
    {},
    booksRow,
  );
  return rows[0] ?? { counted: 0, duplicates: 0 };
}
