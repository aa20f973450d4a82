import { z } from 'zod';
import type { ClickHouse } from '../../clickhouse/client.js';
import { integerColumn } from '../../sql/columns.js';

/** How many events were counted, and how many were duplicates of these. */
export type EventTotals = { readonly counted: number; readonly duplicates: number };

const totalsRow = z.object({ counted: integerColumn, duplicates: integerColumn });

/** Reads the totals from the tables that the aggregator writes. @throws DependencyError. */
export async function readEventTotals(clickhouse: ClickHouse): Promise<EventTotals> {
  const rows = await clickhouse.query(
    `SELECT (SELECT count() FROM events_v1) AS counted,
            (SELECT count() FROM event_duplicates_v1 FINAL) AS duplicates`,
    {},
    totalsRow,
  );
  return rows[0] ?? { counted: 0, duplicates: 0 };
}
